#pragma once
/// ListOps: nested operations on lists of digits, to be evaluated to one digit.

#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/data/generated.hpp>
#include <string>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// The trees of the Long Range Arena (Tay et al. 2021, after Nangia and Bowman 2018): a node is an
/// operation with probability 1/4 and else a digit; the root is an operation, nodes at the greatest
/// depth are digits. An operation is the minimum, maximum, median (rounded down) or sum modulo 10
/// of 2 to `arguments` nodes. Trees of other sizes than shortest to longest tokens are drawn anew.
struct ListOpsSpec {
  std::size_t shortest = 500, longest = 2000;  ///< tokens
  std::size_t depth = 10;                      ///< levels, that of the root included
  std::size_t arguments = 10;                  ///< most arguments of an operation
  bool class_token = false;  ///< put a token before the expression whose output stands for it
};

/// Digits are the tokens 0 to 9; an operation is its token, its arguments and `end`.
enum ListOpsToken : std::int32_t {
  list_minimum = 10,
  list_maximum,
  list_median,
  list_sum_modulo_10,
  list_end,
  list_padding,
  list_class,
  list_ops_vocabulary
};

struct ListOpsExample {
  std::vector<std::int32_t> tokens;
  std::int32_t value;  ///< 0 to 9
};
/// Throws DataError when 100,000 trees in a row have other sizes.
ListOpsExample make_list_ops(const ListOpsSpec& spec, Draws draws);
/// Tokens of the largest tree, without the class token.
double largest_list_ops(const ListOpsSpec& spec);

/// Sequences padded to the longest among them, and their labels. (B, T), (B), (B)
struct LabelledBatch {
  Indices tokens;
  std::vector<std::size_t> lengths;
  Indices labels;
};

/// The expressions of a set in batches.
class ListOps {
 public:
  static constexpr std::size_t classes = 10;

  /// Throws std::invalid_argument when no tree can have these sizes.
  ListOps(const ListOpsSpec& spec, const ExampleSet& examples);
  const ListOpsSpec& spec() const { return spec_; }
  const ExampleSet& examples() const { return examples_; }
  /// Tokens of the longest sequence (T).
  std::size_t length() const { return spec_.longest + (spec_.class_token ? 1 : 0); }

  /// Training examples first, ..., first + count - 1, counted on from epoch to epoch.
  LabelledBatch batch(std::uint64_t first, std::size_t count) const;
  /// The last batch may be smaller than `size`.
  LabelledBatch validation_batch(std::uint64_t index, std::size_t size) const;
  /// Of everything that decides the examples.
  std::uint64_t fingerprint() const;

 private:
  template <class DrawsOf>
  LabelledBatch gather(std::size_t count, const DrawsOf& draws_of) const;
  ListOpsSpec spec_;
  ExampleSet examples_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
