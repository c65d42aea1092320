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

/// Tokens begin, ..., begin + size of a text. The first is input only, as are `repeated` more.
struct TextWindow {
  std::size_t text, begin, size, repeated;
};

/// Without windows, each text is one.
std::vector<TextWindow> cut_texts(const Texts& texts, const TextContext& context) {
  std::vector<TextWindow> windows;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::size_t last = texts[i].tokens.empty() ? 0 : texts[i].tokens.size() - 1;
    for (std::size_t first = 0; first < last;) {
      const std::size_t repeated = std::min(context.repeated, first),
                        most = context.window == 0 ? last : context.window - repeated,
                        fresh = std::min(most, last - first);
      windows.push_back({i, first - repeated, repeated + fresh, repeated});
      first += fresh;
    }
  }
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
    for (std::size_t t = windows[row].repeated; t < windows[row].size; ++t) {
      const auto& [text, begin, size, repeated] = windows[row];
      scores.push_back(log_probability({logits.data() + (row * T + t) * V, V},
                                       texts[text].tokens[begin + t + 1]));
    }
  return scores;
}

/// Returns ln p of the tokens of whole texts, concatenated; they are read in step.
std::vector<double> score_carried(LanguageModel& model, std::span<const TextWindow> whole,
                                  const Texts& texts) {
  std::vector<std::vector<double>> scores(whole.size());
  LanguageModel::State state = model.start();
  std::vector<std::int32_t> tokens(whole.size());
  const std::size_t longest = std::ranges::max(whole, {}, &TextWindow::size).size;
  for (std::size_t t = 0; t < longest; ++t) {
    for (std::size_t b = 0; b < whole.size(); ++b)
      if (t < whole[b].size) tokens[b] = texts[whole[b].text].tokens[t];
    const Tensor logits = model.step(tokens, state);
    const std::size_t V = logits.shape()[1];
    for (std::size_t b = 0; b < whole.size(); ++b)
      if (t < whole[b].size)
        scores[b].push_back(
            log_probability({logits.data() + b * V, V}, texts[whole[b].text].tokens[t + 1]));
  }
  std::vector<double> all;
  for (const std::vector<double>& each : scores) all.insert(all.end(), each.begin(), each.end());
  return all;
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
                  const std::vector<std::string>& texts, const TextContext& context,
                  std::size_t batch, Processes& processes) {
  require(batch >= 1, "score_texts", "batch must be at least 1");
  require(context.window == 0 || context.repeated < context.window, "score_texts", "windows of ",
          context.window, " tokens with ", context.repeated, " of context hold nothing new");
  Texts scores;
  for (const std::string& text : texts) scores.push_back({tokenizer.encode(text)});
  const auto score = context.window == 0 ? score_carried : score_windows;
  const std::vector<TextWindow> all = cut_texts(scores, context);
  const std::size_t batches = ceil_div(all.size(), batch);
  const std::vector<double> numbers = processes.gather(batches, [&](std::size_t index) {
    const std::size_t first = index * batch;
    return score(model, {all.data() + first, std::min(batch, all.size() - first)}, scores);
  });
  const double* next = numbers.data();
  for (const TextWindow& window : all) {
    std::vector<double>& to = scores[window.text].log_probabilities;
    const double* end = next + (window.size - window.repeated);
    to.insert(to.end(), next, end);
    next = end;
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
