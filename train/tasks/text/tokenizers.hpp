#pragma once
/// What data.tokenizer says, made.

#include <bochner/data/text/encoded_text.hpp>
#include <bochner/train/config/config.hpp>

namespace bochner {

/// Largest model of words that is read.
inline constexpr std::uint64_t largest_tokenizer = std::uint64_t(1) << 28;

bool has_words(const Config& config);
/// Throws ConfigError where data.tokenizer and other keys do not fit.
void check_tokenizer(const Config& config);
/// The bytes of data.tokenizer.model, "" where tokens are bytes. Throws IoError, and DataError
/// for a file that is too large.
std::string tokenizer_file(const Config& config);
/// Throws as tokenizer_file() and make_piece_tokenizer() do.
std::shared_ptr<const Tokenizer> tokenizer_of(const Config& config);
/// Throws DataError unless the tokenizer has the digest that a model was trained with; 0 for any.
void require_same_tokenizer(const Config& config, const Tokenizer& tokenizer, std::uint64_t digest);

/// What goes on while a large text is encoded: a line for the user, and what is called again and
/// again and throws to give up.
struct EncodingWords {
  std::function<void(const std::string&)> tell = {};
  std::function<void()> look = {};
};
/// The tokens of a text; those of a large one from the disk, where they are written when they are
/// not there yet. Throws DataError, IoError.
EncodedText encoded_text(const Config& config, const ByteCorpus& text, const Tokenizer& tokenizer,
                         const EncodingWords& words = {});
/// Sees to it that the tokens of a language model's large text are on the disk.
void prepare_encoded_text(const Config& config, const EncodingWords& words);

}  // namespace bochner
