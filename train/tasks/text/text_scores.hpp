#pragma once
/// What a language model says of texts.

#include <bochner/data/text/tokenizer.hpp>
#include <bochner/layers/models/token_models.hpp>
#include <bochner/train/distributed/processes.hpp>

namespace bochner {

struct NamedArray;

/// The tokens of a text, and ln p of each but the first, given those of its window before it.
struct TextScores {
  std::vector<std::int32_t> tokens;
  std::vector<double> log_probabilities = {};
};

/// Of each text. They are cut into windows of `length` predicted tokens as in training, `batch` of
/// which are computed at a time, shared among the processes. Throws std::invalid_argument unless
/// both are at least 1.
std::vector<TextScores> score_texts(LanguageModel& model, const Tokenizer& tokenizer,
                                    const std::vector<std::string>& texts, std::size_t length,
                                    std::size_t batch, Processes& processes = Processes::alone());

/// A row for each text: its number, bytes that were predicted, the sum of their ln p, perplexity of
/// a token and bits per byte, NaN where there is none. Of words also the number of tokens.
NamedArray score_table(const Tokenizer& tokenizer, const std::vector<TextScores>& scores);
/// A row for each predicted token: number of its text, its place from 1, the byte, ln p. Of words
/// the number of the token stands for the byte, and what it writes behind it.
NamedArray token_table(const Tokenizer& tokenizer, const std::vector<TextScores>& scores);

}  // namespace bochner
