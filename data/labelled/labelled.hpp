#pragma once
/// Labelled sequences of tokens.

#include <bochner/base/shape.hpp>
#include <bochner/base/time_array.hpp>
#include <bochner/data/dataset.hpp>

namespace bochner {

struct LabelledExample {
  std::vector<std::int32_t> tokens;
  std::int32_t label = 0;
  std::vector<double> times = {};  ///< times of tokens, ascending, or empty
};

/// Sequences padded to the longest, and their labels. (B, T), (B), (B)
struct LabelledBatch {
  Indices tokens;
  std::vector<std::size_t> lengths;
  Indices labels;
  Times times = {};  ///< times of tokens (B, T), if any; padded with the last one
};

/// Returns a batch in which shorter rows are padded with the token `padding`.
LabelledBatch batch_of(const std::vector<LabelledExample>& rows, std::int32_t padding = 0);

/// Shape of an image whose tokens are pixels, row by row, channels consecutive. 0 rows: no image.
struct ImageShape {
  std::size_t rows = 0, columns = 0, channels = 1;
};

struct LabelledSizes {
  std::size_t vocabulary,
      classes;               ///< tokens are 0, ..., vocabulary - 1, labels 0, ..., classes - 1
  std::size_t length;        ///< tokens of the longest sequence (T)
  std::int32_t padding = 0;  ///< the token after the end of a sequence
};

/// Batches of sequences of similar length: less padding, so less work.
struct LengthBuckets {
  std::uint64_t batch = 16;
  std::size_t window = 0;  ///< batches whose sequences are sorted together; 0: no buckets
};
inline void describe(Keys& keys, LengthBuckets& spec) {
  const KeyCondition files =
      when("data.kind", {"event_files", "texts"}) && when("model.kind", {"classifier"});
  keys.when(when("data.kind", {"listops"}) || files)(
      "buckets", spec.window, between(0, 1 << 16),
      "batches that are sorted by length together, so that similar lengths share a batch and less "
      "of it is padding; 0 for no sorting");
}

class LabelledSequences : public Dataset {
 public:
  /// Sets the buckets. Windows and batches are counted within an epoch from the first whole batch
  /// on; a batch that spans two epochs holds sequences of any lengths.
  void bucket(const LengthBuckets& buckets) { buckets_ = buckets; }
  std::size_t vocabulary() const { return sizes_.vocabulary; }
  std::size_t classes() const { return sizes_.classes; }
  std::size_t length() const { return sizes_.length; }
  const LabelledSizes& sizes() const { return sizes_; }
  /// Returns the shape of the images if all sequences are images.
  virtual ImageShape image() const { return {}; }
  std::uint64_t tokens_per_example() const override { return length(); }
  LabelledBatch batch(const Examples& examples) const;

 protected:
  LabelledSequences(const ExampleSet& examples, const LabelledSizes& sizes)
      : Dataset(examples), sizes_(sizes) {}
  virtual LabelledExample example(Split split, std::uint64_t index) const = 0;
  std::uint64_t in_epoch(std::uint64_t epoch, std::uint64_t place) const override;

  LabelledSizes sizes_;

 private:
  /// Whole batches of an epoch, with their examples in training order.
  struct Window {
    std::uint64_t epoch = 0, begin = 0;
    std::vector<std::uint64_t> examples = {};
  };
  Window sorted_window(std::uint64_t epoch, std::uint64_t begin, std::uint64_t end) const;
  LengthBuckets buckets_;
  mutable Window window_;  ///< the last one used
};

}  // namespace bochner
