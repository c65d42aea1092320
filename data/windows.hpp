#pragma once

#include <bochner/autodiff/shape.hpp>
#include <bochner/data/byte_corpus.hpp>
#include <cstdint>

namespace bochner {

/// Tokens and the tokens that follow them. (B, T), (B, T)
struct Batch {
  Indices inputs;
  Indices targets;
};

/// Windows of `length` bytes for next-byte prediction. The last bytes validate, see
/// held_out(), and the others train. Every epoch cuts the training
/// bytes at another offset and visits the windows in another order, both functions of (seed,
/// epoch): the number of the next example is the whole state. Throws DataError when a part is
/// shorter than one window.
class ByteWindows {
 public:
  ByteWindows(ByteCorpus corpus, std::size_t length, double validation, std::uint64_t seed);

  const ByteCorpus& corpus() const { return corpus_; }
  std::size_t length() const { return length_; }
  std::uint64_t train_bytes() const { return train_bytes_; }
  std::uint64_t validation_bytes() const { return corpus_.size() - train_bytes_; }

  /// The same for every epoch: up to two windows less than fit, so that any offset is possible.
  std::uint64_t examples_per_epoch() const { return examples_per_epoch_; }
  /// Training examples first, ..., first + count - 1, counted on from epoch to epoch. (count, T)
  Batch batch(std::uint64_t first_example, std::size_t count) const;

  /// Windows of the validation part, one after the other without overlap.
  std::uint64_t validation_examples() const {
    return validation_bytes() == 0 ? 0 : (validation_bytes() - 1) / length_;
  }
  /// Batches of `size` that hold all validation examples.
  std::uint64_t validation_batches(std::size_t size) const;
  /// (size, T); the last batch may be smaller.
  Batch validation_batch(std::uint64_t index, std::size_t size) const;

 private:
  std::uint64_t train_begin(std::uint64_t example) const;
  template <class Begin>
  Batch gather_windows(std::size_t count, const Begin& begin) const;

  ByteCorpus corpus_;
  std::size_t length_;
  std::uint64_t seed_, train_bytes_, examples_per_epoch_;
};

}  // namespace bochner
