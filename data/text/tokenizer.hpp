#pragma once
/// Tokenizer: texts as tokens and back. Tokens are bytes, or pieces of words that SentencePiece has
/// learned (Kudo and Richardson, "SentencePiece", 2018).

#include <bochner/base/keys.hpp>
#include <bochner/data/files/gzip.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bochner {

struct TokenizerSpec {
  std::string kind = "bytes";
  std::string model, cache;
};
inline void describe(Keys& keys, TokenizerSpec& spec) {
  keys("kind", spec.kind, one_of({"bytes", "sentencepiece"}),
       "bytes, texts: what tokens are, bytes or the pieces of words of a model");
  keys("model", spec.model,
       "sentencepiece: file of the model, which bochner data tokenizer makes; a run has its own "
       "copy",
       resumable_path);
  keys("cache", spec.cache,
       "sentencepiece: folder for the tokens of texts above 16 MiB, which are made once; without "
       "one bochner in ~/.cache",
       resumable_path);
}

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  /// Tokens are 0, ..., vocabulary() - 1.
  virtual std::size_t vocabulary() const = 0;
  /// Line by line, each with its end; a text may be cut behind any line.
  virtual std::vector<std::int32_t> encode(std::string_view text) const = 0;
  /// What a token adds to a text, nothing where it is no part of one; its first byte may be the
  /// middle of a character.
  virtual std::string_view bytes(std::int32_t token, bool begins_line) const = 0;
  /// Most bytes of one.
  virtual std::size_t longest() const = 0;
  /// Of whatever decides about tokens; 0 of bytes.
  virtual std::uint64_t digest() const = 0;
};

/// Bytes of tokens that come one by one.
class TextDecoder {
 public:
  explicit TextDecoder(const Tokenizer& tokenizer) : tokenizer_(&tokenizer) {}
  std::string_view next(std::int32_t token);

 private:
  const Tokenizer* tokenizer_;
  bool begins_line_ = true;
};

std::string decode(const Tokenizer& tokenizer, const std::vector<std::int32_t>& tokens);

/// Each byte is a token.
std::unique_ptr<Tokenizer> make_byte_tokenizer();
/// The pieces of a model of SentencePiece, unigram or bpe. What its tool spm_encode makes of a line
/// is what this makes of it; a line end is the piece of its byte, or nothing where the model has no
/// bytes. With a model that takes texts as they are and has bytes, as train_tokenizer makes them,
/// any bytes at all come back from their tokens. `name` stands in errors. Throws DataError, or
/// std::invalid_argument in a build without SentencePiece.
std::unique_ptr<Tokenizer> make_piece_tokenizer(ByteSpan model, const std::string& name);

class ByteCorpus;

struct TokenizerTraining {
  std::string model = "unigram";   ///< or "bpe"
  std::size_t vocabulary = 8000;   ///< most pieces, those of 256 bytes and the unknown one included
  std::uint64_t bytes = 64 << 20;  ///< most of the text that is looked at: lines spread evenly
};
/// A model of SentencePiece for a text, with a piece for each byte. A function of its arguments and
/// the library's version: equal text, equal model, whatever the machine. Throws DataError where
/// the library finds no such model.
std::string train_tokenizer(const ByteCorpus& text, const TokenizerTraining& training);

}  // namespace bochner
