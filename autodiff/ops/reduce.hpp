#pragma once
/// Reductions over any axes; negative axes count from the back, no axes means all of them.

#include <bochner/autodiff/tape.hpp>
#include <concepts>

namespace bochner::inline BOCHNER_PRECISION {

/// One or several axes: -1, {0, 1}.
struct Axes : std::vector<int> {
  using std::vector<int>::vector;
  Axes(int axis) : std::vector<int>{axis} {}
  template <std::floating_point Number>
  Axes(Number) = delete;  // max(x, 0.0) would be the maximum over axis 0
};
/// Whether reduced axes are kept with size 1.
enum class Keep { no, yes };
inline constexpr Keep keep = Keep::yes;

/// Returns the sum over the axes. (..) -> (..)
Var sum(const Var& x, const Axes& axes = {}, Keep keep_axes = Keep::no);
/// Returns the mean over the axes. (..) -> (..)
Var mean(const Var& x, const Axes& axes = {}, Keep keep_axes = Keep::no);
/// Returns the maximum over the axes; ties give the gradient to the first; NaN propagates. (..) ->
/// (..)
Var max(const Var& x, const Axes& axes = {}, Keep keep_axes = Keep::no);
/// Returns ln sum e^x over the axes, without overflow. (..) -> (..)
Var logsumexp(const Var& x, const Axes& axes = {}, Keep keep_axes = Keep::no);
/// Returns the variance over the axes (divisor n). (..) -> (..)
Var variance(const Var& x, const Axes& axes = {}, Keep keep_axes = Keep::no);
/// Returns the sums of the elements up to each one along an axis, added in double. (..) -> (..)
Var cumsum(const Var& x, int axis = -1);

}  // namespace bochner::inline BOCHNER_PRECISION
