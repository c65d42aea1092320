#pragma once

#include <bochner/autodiff/shape.hpp>
#include <bochner/data/byte_corpus.hpp>
#include <bochner/data/dataset.hpp>

namespace bochner {

/// Tokens and the tokens that follow them. (B, T), (B, T)
struct Batch {
  Indices inputs;
  Indices targets;
};

/// Examples for a language model.
class TokenSource : public Dataset {
 public:
  /// (B, T)
  virtual Batch batch(const Examples& examples) const = 0;

 protected:
  using Dataset::Dataset;
};

/// Windows of `length` bytes for next-byte prediction. The last bytes validate, see held_out(), in
/// windows without overlap, and the others train. Every epoch cuts the training bytes at another
/// offset and visits the windows in another order, both functions of (seed, epoch); it has up to
/// two windows less than fit, so that any offset is possible. Throws DataError when a part is
/// shorter than one window.
class ByteWindows : public TokenSource {
 public:
  ByteWindows(ByteCorpus corpus, std::size_t length, double validation, std::uint64_t seed);

  const ByteCorpus& corpus() const { return corpus_; }
  std::uint64_t train_bytes() const { return train_bytes_; }
  std::uint64_t validation_bytes() const { return corpus_.size() - train_bytes_; }

  Batch batch(const Examples& examples) const override;
  std::uint64_t tokens_per_example() const override { return length_; }
  std::uint64_t fingerprint() const override { return corpus_.fingerprint(); }

 protected:
  /// "412 files, 9.1 MB"
  std::string describe() const override;
  /// "8.2 MB to train, 0.9 MB to validate"
  std::string describe_splits() const override;

 private:
  std::uint64_t begin(Split split, const Examples::Number& number) const;

  ByteCorpus corpus_;
  std::size_t length_;
  std::uint64_t train_bytes_;
};

}  // namespace bochner
