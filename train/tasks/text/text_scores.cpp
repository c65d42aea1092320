#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/compute/softmax.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/array.hpp>
#include <bochner/train/tasks/text/text_scores.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

namespace bochner {
namespace {

using Texts = std::vector<TextScores>;

/// Tokens begin, ..., begin + size of a text; the first is input only.
struct TextWindow {
  std::size_t text, begin, size;
};

std::vector<TextWindow> cut_texts(const Texts& texts, std::size_t length) {
  std::vector<TextWindow> windows;
  for (std::size_t i = 0; i < texts.size(); ++i)
    for (std::size_t begin = 0; begin + 1 < texts[i].tokens.size(); begin += length)
      windows.push_back({i, begin, std::min(length, texts[i].tokens.size() - 1 - begin)});
  return windows;
}

/// Returns windows padded to the longest one (B, T); a causal model does not see padding after a
/// token.
Indices inputs_of(std::span<const TextWindow> windows, const Texts& texts) {
  const std::size_t T = std::ranges::max(windows, {}, &TextWindow::size).size;
  Indices inputs{{windows.size(), T}, std::vector<std::int32_t>(windows.size() * T)};
  for (std::size_t row = 0; row < windows.size(); ++row)
    std::copy_n(texts[windows[row].text].tokens.begin() + std::ptrdiff_t(windows[row].begin),
                windows[row].size, inputs.values.begin() + std::ptrdiff_t(row * T));
  return inputs;
}

/// Returns ln softmax(logits)[at].
double log_probability(std::span<const real> logits, std::int32_t at) {
  return double(logits[std::size_t(at)]) - log_sum_exp(logits);
}

/// Returns ln p of the tokens of some windows, concatenated.
std::vector<double> score_windows(LanguageModel& model, std::span<const TextWindow> windows,
                                  const Texts& texts) {
  const Indices inputs = inputs_of(windows, texts);
  Tape tape({.recording = false});
  const Var logits = model.logits(tape, inputs);
  const std::size_t T = inputs.shape[1], V = logits.dim(-1);
  std::vector<double> scores;
  for (std::size_t row = 0; row < windows.size(); ++row)
    for (std::size_t t = 0; t < windows[row].size; ++t) {
      const auto& [text, begin, size] = windows[row];
      scores.push_back(log_probability({logits.data() + (row * T + t) * V, V},
                                       texts[text].tokens[begin + t + 1]));
    }
  return scores;
}

/// Returns a piece as UTF-8, with bytes that are not UTF-8 as "\\xe2".
std::string shown_piece(std::string_view piece) {
  if (is_utf8(piece)) return printable(piece);
  std::string shown;
  for (const char byte : piece)
    shown += static_cast<unsigned char>(byte) < 0x80
                 ? printable({&byte, 1})
                 : fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  return shown;
}

bool is_of_words(const Tokenizer& tokenizer) { return tokenizer.digest() != 0; }

/// Counts the bytes of the predicted tokens: all but the first.
std::size_t predicted_bytes(const Tokenizer& tokenizer, const TextScores& text) {
  TextDecoder decoder(tokenizer);
  std::size_t bytes = 0;
  for (std::size_t t = 0; t < text.tokens.size(); ++t) {
    const std::size_t size = decoder.next(text.tokens[t]).size();
    if (t > 0) bytes += size;
  }
  return bytes;
}

NamedArray table_of(std::vector<std::string> columns, const std::vector<double>& numbers) {
  NamedArray table;
  table.values.resize({numbers.size() / columns.size(), columns.size()});
  std::ranges::copy(numbers, table.values.data());
  table.columns = std::move(columns);
  return table;
}

}  // namespace

Texts score_texts(LanguageModel& model, const Tokenizer& tokenizer,
                  const std::vector<std::string>& texts, std::size_t length, std::size_t batch,
                  Processes& processes) {
  require(length >= 1 && batch >= 1, "score_texts", "length and batch must be at least 1");
  Texts scores;
  for (const std::string& text : texts) scores.push_back({tokenizer.encode(text)});
  const std::vector<TextWindow> all = cut_texts(scores, length);
  const std::size_t batches = ceil_div(all.size(), batch);
  const std::vector<double> numbers = processes.gather(batches, [&](std::size_t index) {
    const std::size_t first = index * batch;
    return score_windows(model, {all.data() + first, std::min(batch, all.size() - first)}, scores);
  });
  const double* next = numbers.data();
  for (const TextWindow& window : all) {
    std::vector<double>& to = scores[window.text].log_probabilities;
    to.insert(to.end(), next, next + window.size);
    next += window.size;
  }
  return scores;
}

NamedArray score_table(const Tokenizer& tokenizer, const Texts& scores) {
  std::vector<std::string> columns = {"text", "bytes", "log_probability", "perplexity",
                                      "bits_per_byte"};
  if (is_of_words(tokenizer)) columns.insert(columns.begin() + 1, "tokens");
  std::vector<double> numbers;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const std::vector<double>& each = scores[i].log_probabilities;
    const double sum = std::accumulate(each.begin(), each.end(), 0.0);
    const double bytes = double(predicted_bytes(tokenizer, scores[i])),
                 tokens = double(each.size());
    const double none = std::numeric_limits<double>::quiet_NaN();
    numbers.push_back(double(i));
    if (is_of_words(tokenizer)) numbers.push_back(tokens);
    numbers.insert(numbers.end(), {bytes, sum, tokens > 0 ? std::exp(-sum / tokens) : none,
                                   bytes > 0 ? -sum / bytes / std::numbers::ln2 : none});
  }
  return table_of(std::move(columns), numbers);
}

NamedArray token_table(const Tokenizer& tokenizer, const Texts& scores) {
  const bool words = is_of_words(tokenizer);
  std::vector<double> numbers;
  std::vector<std::string> pieces;
  for (std::size_t i = 0; i < scores.size(); ++i)
    for (std::size_t t = 0; t < scores[i].log_probabilities.size(); ++t) {
      const std::int32_t token = scores[i].tokens[t + 1];
      numbers.insert(numbers.end(), {double(i), double(t + 2), double(token)});
      if (words) {
        numbers.push_back(double(pieces.size()));
        pieces.push_back(shown_piece(tokenizer.bytes(token, false)));
      }
      numbers.push_back(scores[i].log_probabilities[t]);
    }
  if (!words) return table_of({"text", "place", "byte", "log_probability"}, numbers);
  NamedArray table = table_of({"text", "place", "token", "piece", "log_probability"}, numbers);
  table.texts[3] = std::move(pieces);
  return table;
}

}  // namespace bochner
