#pragma once
/// Sequences of tokens, each with a label.

#include <bochner/autodiff/shape.hpp>
#include <bochner/data/generated.hpp>
#include <string>
#include <vector>

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

/// A set of them in batches.
class LabelledSequences {
 public:
  explicit LabelledSequences(const ExampleSet& examples) : examples_(examples) {}
  virtual ~LabelledSequences() = default;

  const ExampleSet& examples() const { return examples_; }
  /// Tokens are 0, ..., vocabulary - 1, labels 0, ..., classes - 1.
  virtual std::size_t vocabulary() const = 0;
  virtual std::size_t classes() const = 0;
  /// Tokens of the longest sequence (T).
  virtual std::size_t length() const = 0;
  /// Training examples first, ..., first + count - 1, counted on from epoch to epoch.
  LabelledBatch batch(std::uint64_t first, std::size_t count) const;
  /// The last batch may be smaller than `size`.
  LabelledBatch validation_batch(std::uint64_t index, std::size_t size) const;
  /// Of everything that decides the examples.
  virtual std::uint64_t fingerprint() const = 0;
  /// "listops, 4 to 30 tokens", for the user.
  virtual std::string describe() const = 0;

 protected:
  virtual LabelledExample training(std::uint64_t number) const = 0;
  virtual LabelledExample held_out(std::uint64_t index) const = 0;
  /// The token behind the end of a sequence.
  virtual std::int32_t padding() const { return 0; }

 private:
  ExampleSet examples_;
};

}  // namespace bochner
