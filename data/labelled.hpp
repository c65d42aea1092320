#pragma once
/// Sequences of tokens, each with a label.

#include <bochner/autodiff/shape.hpp>
#include <bochner/autodiff/times.hpp>
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

/// Of sequences with labels.
/// Pixels of an image whose tokens a sequence is: row by row, the channels of a pixel one after the
/// other. None where there are no rows.
struct ImageShape {
  std::size_t rows = 0, columns = 0, channels = 1;
};

struct LabelledSizes {
  std::size_t vocabulary,
      classes;               ///< tokens are 0, ..., vocabulary - 1, labels 0, ..., classes - 1
  std::size_t length;        ///< tokens of the longest sequence (T)
  std::int32_t padding = 0;  ///< the token behind the end of a sequence
};

/// Examples for a classifier.
class LabelledSequences : public Dataset {
 public:
  std::size_t vocabulary() const { return sizes_.vocabulary; }
  std::size_t classes() const { return sizes_.classes; }
  std::size_t length() const { return sizes_.length; }
  /// Of the images that all sequences are, if they are.
  virtual ImageShape image() const { return {}; }
  /// Padding included.
  std::uint64_t tokens_per_example() const override { return length(); }
  LabelledBatch batch(const Examples& examples) const;

 protected:
  LabelledSequences(const ExampleSet& examples, const LabelledSizes& sizes)
      : Dataset(examples), sizes_(sizes) {}
  virtual LabelledExample example(Split split, std::uint64_t index) const = 0;

  LabelledSizes sizes_;
};

}  // namespace bochner
