#pragma once
/// ListOps: nested operations on lists of digits, with a digit as the result.

#include <bochner/data/labelled/labelled.hpp>

namespace bochner {

/// Trees of the Long Range Arena (Tay et al. 2021, after Nangia and Bowman 2018): a node is an
/// operation with probability 1/4, else a digit; the root is an operation, nodes at the greatest
/// depth are digits. An operation is the minimum, maximum, median (rounded down) or sum modulo 10
/// of 2 to `arguments` nodes. Trees with fewer than shortest or more than longest tokens are
/// redrawn.
struct ListOpsSpec {
  std::size_t shortest = 4, longest = 2000;  ///< tokens
  std::size_t depth = 10;                    ///< levels, with the root
  std::size_t arguments = 10;
  bool class_token = false;  ///< prepend a class token
};
inline void describe(Keys& keys, ListOpsSpec& spec) {
  keys("shortest", spec.shortest, between(4, 1 << 24), "tokens of the shortest expression");
  keys("depth", spec.depth, between(2, 100), "most levels of an expression");
  keys("arguments", spec.arguments, between(2, 1000), "most arguments of an operation");
}

/// Tokens: digits are 0 to 9; an operation is its token, its arguments and `end`.
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

/// Returns a labelled expression. Throws DataError if 100,000 trees have another size.
LabelledExample make_list_ops(const ListOpsSpec& spec, Draws draws);
/// Returns the tokens of the largest tree, without the class token.
double largest_list_ops(const ListOpsSpec& spec);

class ListOps : public LabelledSequences {
 public:
  /// Throws std::invalid_argument if no tree can have these sizes.
  ListOps(const ListOpsSpec& spec, const ExampleSet& examples);
  std::uint64_t fingerprint() const override;

 protected:
  std::string describe() const override;
  LabelledExample example(Split split, std::uint64_t index) const override {
    return make_list_ops(spec_, draws_of(examples_, split, index));
  }

 private:
  ListOpsSpec spec_;
};

}  // namespace bochner
