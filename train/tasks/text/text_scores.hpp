#pragma once
#include <bochner/data/text/tokenizer.hpp>
#include <bochner/layers/models/token_models.hpp>
#include <bochner/train/distributed/processes.hpp>

namespace bochner {

struct NamedArray;

/// Tokens of a text, and ln p of each but the first, given tokens before it.
struct TextScores {
  std::vector<std::int32_t> tokens;
  std::vector<double> log_probabilities = {};
};

/// What the model sees before each token of a text: all tokens, which it carries from token to
/// token, or those of a window. The first `repeated` tokens of a window are the last ones of the
/// window before, as context.
struct TextContext {
  std::size_t window = 0, repeated = 0;  ///< in predicted tokens; 0: all tokens
};

/// Scores each text, `batch` texts or windows at a time, which are shared among the processes.
/// Throws std::invalid_argument if `batch` is 0, or a window holds nothing new.
std::vector<TextScores> score_texts(LanguageModel& model, const Tokenizer& tokenizer,
                                    const std::vector<std::string>& texts,
                                    const TextContext& context, std::size_t batch,
                                    Processes& processes = Processes::alone());

/// Returns a row for each text: its number, the number of tokens unless they are bytes, predicted
/// bytes, the sum of ln p, perplexity per token and bits per byte; NaN if nothing is predicted.
NamedArray score_table(const Tokenizer& tokenizer, const std::vector<TextScores>& scores);
/// Returns a row for each predicted token: number of its text, position from 1, byte, ln p. Instead
/// of the byte, tokenizers of pieces give the token and its text.
NamedArray token_table(const Tokenizer& tokenizer, const std::vector<TextScores>& scores);

}  // namespace bochner
