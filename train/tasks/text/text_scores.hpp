#pragma once
#include <bochner/data/text/tokenizer.hpp>
#include <bochner/layers/models/token_models.hpp>
#include <bochner/train/distributed/processes.hpp>

namespace bochner {

struct NamedArray;

/// Tokens of a text, and ln p of each but the first, given the tokens before it in its window.
struct TextScores {
  std::vector<std::int32_t> tokens;
  std::vector<double> log_probabilities = {};
};

/// Scores each text. Texts are cut into windows of `length` predicted tokens as in training, which
/// are computed `batch` at a time and shared among the processes. Throws std::invalid_argument if
/// either is 0.
std::vector<TextScores> score_texts(LanguageModel& model, const Tokenizer& tokenizer,
                                    const std::vector<std::string>& texts, std::size_t length,
                                    std::size_t batch, Processes& processes = Processes::alone());

/// Returns a row for each text: its number, the number of tokens unless they are bytes, predicted
/// bytes, the sum of ln p, perplexity per token and bits per byte; NaN if nothing is predicted.
NamedArray score_table(const Tokenizer& tokenizer, const std::vector<TextScores>& scores);
/// Returns a row for each predicted token: number of its text, position from 1, byte, ln p. Instead
/// of the byte, tokenizers of pieces give the token and its text.
NamedArray token_table(const Tokenizer& tokenizer, const std::vector<TextScores>& scores);

}  // namespace bochner
