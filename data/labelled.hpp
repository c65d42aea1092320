#pragma once
/// Sequences of tokens, each with a label.

#include <bochner/autodiff/shape.hpp>
#include <bochner/data/dataset.hpp>

namespace bochner {

struct LabelledExample {
  std::vector<std::int32_t> tokens;
  std::int32_t label = 0;
};

/// Sequences padded to the longest among them, and their labels. (B, T), (B), (B)
struct LabelledBatch {
  Indices tokens;
  std::vector<std::size_t> lengths;
  Indices labels;
};

/// Examples for a classifier.
class LabelledSequences : public Dataset {
 public:
  /// Tokens are 0, ..., vocabulary - 1, labels 0, ..., classes - 1.
  virtual std::size_t vocabulary() const = 0;
  virtual std::size_t classes() const = 0;
  /// Tokens of the longest sequence (T).
  virtual std::size_t length() const = 0;
  /// Padding included.
  std::uint64_t tokens_per_example() const override { return length(); }
  LabelledBatch batch(const Examples& examples) const;

 protected:
  using Dataset::Dataset;
  virtual LabelledExample example(Split split, std::uint64_t index) const = 0;
  /// The token behind the end of a sequence.
  virtual std::int32_t padding() const { return 0; }
};

}  // namespace bochner
