#include <algorithm>
#include <bochner/data/formats/array.hpp>
#include <bochner/train/tasks/text_scores.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Bytes begin, .., begin + size of a text, of which the first is only seen.
struct TextWindow {
  std::size_t text, begin, size;
};

std::vector<TextWindow> cut_texts(const std::vector<std::string>& texts, std::size_t length) {
  std::vector<TextWindow> windows;
  for (std::size_t i = 0; i < texts.size(); ++i)
    for (std::size_t begin = 0; begin + 1 < texts[i].size(); begin += length)
      windows.push_back({i, begin, std::min(length, texts[i].size() - 1 - begin)});
  return windows;
}

std::int32_t byte_of(const std::string& text, std::size_t place) {
  return static_cast<unsigned char>(text[place]);
}

/// Behind the end of a window is padding, which a causal model has not seen at any byte of it.
Indices inputs_of(std::span<const TextWindow> windows, const std::vector<std::string>& texts) {
  const std::size_t T = std::ranges::max(windows, {}, &TextWindow::size).size;
  Indices inputs{{windows.size(), T}, std::vector<std::int32_t>(windows.size() * T)};
  for (std::size_t row = 0; row < windows.size(); ++row)
    for (std::size_t t = 0; t < windows[row].size; ++t)
      inputs.values[row * T + t] = byte_of(texts[windows[row].text], windows[row].begin + t);
  return inputs;
}

/// ln of the softmax at one of n logits.
double log_probability(const real* logits, std::size_t n, std::int32_t at) {
  const double largest = double(*std::max_element(logits, logits + n));
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k) sum += std::exp(double(logits[k]) - largest);
  return double(logits[at]) - largest - std::log(sum);
}

/// ln p of the bytes of some windows, one behind the other.
std::vector<double> score_windows(LanguageModel& model, std::span<const TextWindow> windows,
                                  const std::vector<std::string>& texts) {
  const Indices inputs = inputs_of(windows, texts);
  Tape tape;
  tape.recording = false;
  const Var logits = model.logits(tape, inputs);
  const std::size_t T = inputs.shape[1], V = logits.dim(-1);
  std::vector<double> scores;
  for (std::size_t row = 0; row < windows.size(); ++row)
    for (std::size_t t = 0; t < windows[row].size; ++t) {
      const auto& [text, begin, size] = windows[row];
      scores.push_back(log_probability(logits.data() + (row * T + t) * V, V,
                                       byte_of(texts[text], begin + t + 1)));
    }
  return scores;
}

}  // namespace

std::vector<ByteScores> score_texts(LanguageModel& model, const std::vector<std::string>& texts,
                                    std::size_t length, std::size_t batch, Processes& processes) {
  require(length >= 1 && batch >= 1, "score_texts", "length and batch must be at least 1");
  const std::vector<TextWindow> all = cut_texts(texts, length);
  const std::size_t batches = (all.size() + batch - 1) / batch;
  const std::vector<double> numbers = processes.gather(batches, [&](std::size_t index) {
    const std::size_t first = index * batch;
    return score_windows(model, {all.data() + first, std::min(batch, all.size() - first)}, texts);
  });
  std::vector<ByteScores> scores(texts.size());
  const double* next = numbers.data();
  for (const TextWindow& window : all) {
    scores[window.text].insert(scores[window.text].end(), next, next + window.size);
    next += window.size;
  }
  return scores;
}

NamedArray score_table(const std::vector<ByteScores>& scores) {
  NamedArray table;
  table.columns = {"text", "bytes", "log_probability", "perplexity", "bits_per_byte"};
  table.values.resize({scores.size(), table.columns.size()});
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double sum = std::accumulate(scores[i].begin(), scores[i].end(), 0.0);
    const double mean = scores[i].empty() ? std::numeric_limits<double>::quiet_NaN()
                                          : -sum / double(scores[i].size());
    const double row[] = {double(i), double(scores[i].size()), sum, std::exp(mean),
                          mean / std::numbers::ln2};
    std::ranges::copy(row, &table.values(i, 0));
  }
  return table;
}

NamedArray byte_table(const std::vector<std::string>& texts,
                      const std::vector<ByteScores>& scores) {
  std::vector<double> numbers;
  for (std::size_t i = 0; i < scores.size(); ++i)
    for (std::size_t t = 0; t < scores[i].size(); ++t)
      numbers.insert(numbers.end(),
                     {double(i), double(t + 2), double(byte_of(texts[i], t + 1)), scores[i][t]});
  NamedArray table;
  table.columns = {"text", "place", "byte", "log_probability"};
  table.values.resize({numbers.size() / table.columns.size(), table.columns.size()});
  std::ranges::copy(numbers, table.values.data());
  return table;
}

}  // namespace bochner::inline BOCHNER_PRECISION
