#pragma once
/// Tokenizers of configs, and the cached tokens of large texts.

#include <bochner/data/text/encoded_text.hpp>
#include <bochner/train/config/config.hpp>

namespace bochner {

/// Largest SentencePiece model that is read, in bytes.
inline constexpr std::uint64_t largest_tokenizer = std::uint64_t(1) << 28;

bool has_words(const Config& config);
/// Throws ConfigError if data.tokenizer contradicts other keys.
void check_tokenizer(const Config& config);
/// Returns the bytes of data.tokenizer.model, "" if tokens are bytes. Throws IoError, and DataError
/// for a file that is too large.
std::string tokenizer_file(const Config& config);
/// Returns the tokenizer of a config. Throws as tokenizer_file() and make_piece_tokenizer() do, and
/// DataError if its file has another digest than that of the trained model, unless that is 0.
std::shared_ptr<const Tokenizer> tokenizer_of(const Config& config, std::uint64_t digest = 0);

/// Callbacks while a large text is encoded: `report` gets a line for the user; `poll` is called
/// repeatedly and may throw to cancel.
struct EncodingCallbacks {
  std::function<void(const std::string&)> report = {};
  std::function<void()> poll = {};
};
/// Returns the tokens of a text; those of a large text come from a file, written if missing. Throws
/// DataError, IoError.
EncodedText encoded_text(const Config& config, const ByteCorpus& text, const Tokenizer& tokenizer,
                         const EncodingCallbacks& callbacks = {});
/// Writes the tokens of a language model's large text to the cache, if missing.
void prepare_encoded_text(const Config& config, const EncodingCallbacks& callbacks);

}  // namespace bochner
