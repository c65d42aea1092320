#pragma once
/// What a language model of bytes says of texts.

#include <bochner/layers/models/token_models.hpp>
#include <bochner/train/processes/processes.hpp>

namespace bochner {
struct NamedArray;
}

namespace bochner::inline BOCHNER_PRECISION {

/// ln p of each byte of a text but the first, given those of its window before it.
using ByteScores = std::vector<double>;

/// Of each text. They are cut into windows of `length` predicted bytes as in training, `batch` of
/// which are computed at a time, shared among the processes. Throws std::invalid_argument unless
/// both are at least 1.
std::vector<ByteScores> score_texts(LanguageModel& model, const std::vector<std::string>& texts,
                                    std::size_t length, std::size_t batch,
                                    Processes& processes = Processes::alone());

/// A row for each text: its number, bytes that were predicted, the sum of their ln p, perplexity of
/// a byte and bits per byte, NaN where there is none.
NamedArray score_table(const std::vector<ByteScores>& scores);
/// A row for each predicted byte: number of its text, its place from 1, the byte, ln p.
NamedArray byte_table(const std::vector<std::string>& texts, const std::vector<ByteScores>& scores);

}  // namespace bochner::inline BOCHNER_PRECISION
