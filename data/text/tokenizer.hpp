#pragma once
/// Tokenizers convert texts to tokens and back. Tokens are bytes, or pieces of words learned by
/// SentencePiece (Kudo and Richardson, "SentencePiece", 2018).

#include <bochner/base/keys.hpp>
#include <bochner/data/files/gzip.hpp>
#include <memory>
#include <string_view>

namespace bochner {

struct TokenizerSpec {
  std::string kind = "bytes";
  std::string model, cache;
};
inline void describe(Keys& keys, TokenizerSpec& spec) {
  keys("kind", spec.kind, one_of({"bytes", "sentencepiece"}), "tokens: bytes, or pieces of words",
       of_model);
  keys.when("kind", {"sentencepiece"}, [&] {
    keys("model", spec.model,
         "file of the model, made by bochner data tokenizer; a run has its own copy",
         {.path = true});
    keys("cache", spec.cache,
         "folder for the tokens of texts above 16 MiB, by default bochner in ~/.cache",
         resumable_path);
  });
}

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  /// Returns the number of tokens 0, ..., vocabulary() - 1.
  virtual std::size_t vocabulary() const = 0;
  /// Encodes line by line, each with its end: a text may be cut after any line.
  virtual std::vector<std::int32_t> encode(std::string_view text) const = 0;
  /// Returns the bytes that a token adds to a text, none for control tokens; may split a character.
  virtual std::string_view bytes(std::int32_t token, bool begins_line) const = 0;
  virtual std::size_t longest() const = 0;
  /// Hashes everything that determines the tokens; 0 for bytes.
  virtual std::uint64_t digest() const = 0;
};

class TextDecoder {
 public:
  explicit TextDecoder(const Tokenizer& tokenizer) : tokenizer_(&tokenizer) {}
  std::string_view next(std::int32_t token);

 private:
  const Tokenizer* tokenizer_;
  bool begins_line_ = true;
};

std::string decode(const Tokenizer& tokenizer, const std::vector<std::int32_t>& tokens);

std::unique_ptr<Tokenizer> make_byte_tokenizer();
/// Creates a tokenizer from a SentencePiece model, unigram or bpe. It encodes a line like the tool
/// spm_encode; a line end is its byte's piece, or nothing if the model has no bytes. With a model
/// that keeps texts unchanged and has bytes, as train_tokenizer makes them, any bytes decode
/// exactly. `name` appears in errors. Throws DataError, or std::invalid_argument in a build without
/// SentencePiece.
std::unique_ptr<Tokenizer> make_piece_tokenizer(ByteSpan model, const std::string& name);

class ByteCorpus;

struct TokenizerTraining {
  std::string model = "unigram";   ///< or "bpe"
  std::size_t vocabulary = 8000;   ///< most pieces, with those of 256 bytes and the unknown one
  std::uint64_t bytes = 64 << 20;  ///< bytes of text used at most: lines spread evenly
};
/// Trains a SentencePiece model with a piece for each byte. A function of its arguments and the
/// library's version: equal text, equal model on any machine. Throws DataError for none.
std::string train_tokenizer(const ByteCorpus& text, const TokenizerTraining& training);

}  // namespace bochner
