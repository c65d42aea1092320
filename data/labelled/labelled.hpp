#pragma once
/// Sequences of tokens, each with a label.

#include <bochner/base/shape.hpp>
#include <bochner/base/time_array.hpp>
#include <bochner/data/dataset.hpp>

namespace bochner {

struct LabelledExample {
  std::vector<std::int32_t> tokens;
  std::int32_t label = 0;
  std::vector<double> times = {};  ///< of tokens, ascending, or empty
};

/// Sequences padded to the longest among them, and their labels. (B, T), (B), (B)
struct LabelledBatch {
  Indices tokens;
  std::vector<std::size_t> lengths;
  Indices labels;
  Times times = {};  ///< of tokens (B, T), where they have any; behind the end the last one
};

/// Shorter rows end in the token `padding`.
LabelledBatch batch_of(const std::vector<LabelledExample>& rows, std::int32_t padding = 0);

/// Pixels of an image whose tokens a sequence is: row by row, the channels of a pixel one after the
/// other. None where there are no rows.
struct ImageShape {
  std::size_t rows = 0, columns = 0, channels = 1;
};

/// Of sequences with labels.
struct LabelledSizes {
  std::size_t vocabulary,
      classes;               ///< tokens are 0, ..., vocabulary - 1, labels 0, ..., classes - 1
  std::size_t length;        ///< tokens of the longest sequence (T)
  std::int32_t padding = 0;  ///< the token behind the end of a sequence
};

/// Batches of sequences of like length: less padding, and so less work.
struct LengthBuckets {
  std::uint64_t batch = 16;
  std::size_t window = 0;  ///< batches among whose sequences like ones are found; 0 for no buckets
};
inline void describe(Keys& keys, LengthBuckets& spec) {
  keys(
      "buckets", spec.window, between(0, 1 << 16),
      "classifier: training sequences of like length share a batch, so that less of it is padding: "
      "windows of so many batches are sorted by length, and their batches shuffled; 0 for batches "
      "of any lengths");
}

/// Examples for a classifier.
class LabelledSequences : public Dataset {
 public:
  /// From now on. Windows and batches are counted within an epoch from the first batch on that lies
  /// in it whole; sequences of a batch that lies in two epochs are of any lengths.
  void bucket(const LengthBuckets& buckets) { buckets_ = buckets; }
  std::size_t vocabulary() const { return sizes_.vocabulary; }
  std::size_t classes() const { return sizes_.classes; }
  std::size_t length() const { return sizes_.length; }
  const LabelledSizes& sizes() const { return sizes_; }
  /// Of the images that all sequences are, if they are.
  virtual ImageShape image() const { return {}; }
  /// Padding included.
  std::uint64_t tokens_per_example() const override { return length(); }
  LabelledBatch batch(const Examples& examples) const;

 protected:
  LabelledSequences(const ExampleSet& examples, const LabelledSizes& sizes)
      : Dataset(examples), sizes_(sizes) {}
  virtual LabelledExample example(Split split, std::uint64_t index) const = 0;
  std::uint64_t in_epoch(std::uint64_t epoch, std::uint64_t place) const override;

  LabelledSizes sizes_;

 private:
  /// Whole batches of an epoch, and the examples in them in the order of the training.
  struct Window {
    std::uint64_t epoch = 0, begin = 0;
    std::vector<std::uint64_t> examples = {};
  };
  Window sorted_window(std::uint64_t epoch, std::uint64_t begin, std::uint64_t end) const;
  LengthBuckets buckets_;
  mutable Window window_;  ///< the last that was asked for
};

}  // namespace bochner
