#pragma once
/// Where a backward writes a product straight into an input's gradient.

#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// The gradient of an input that needs one, and the beta that a product must use on it: 0 assigns
/// the first contribution, 1 adds a later one.
struct GradientTarget {
  explicit GradientTarget(const Var& x)
      : beta(x.gradient_is_empty() ? real(0) : real(1)), data(x.gradient_to_assign().data()) {}
  real beta;
  real* data;
};

}  // namespace bochner::inline BOCHNER_PRECISION
