#pragma once
/// Elements of an axis in another order, by index or by size.

#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Reverses the order along an axis. (..) -> (..)
Var flip(const Var& x, int axis);
/// Moves elements along an axis by `shift` places towards its end, around it. (..) -> (..)
Var roll(const Var& x, int axis, std::ptrdiff_t shift);
/// Returns y[.., i, ..] = x[.., indices[.., i, ..], ..], as take_along_axis() of NumPy. x (.., n,
/// ..), indices (.., m, ..) in [0, n), else throws -> (.., m, ..)
Var gather_along(const Var& x, int axis, const Indices& indices);
/// Returns base with updates[.., i, ..] added at indices[.., i, ..], the adjoint of gather_along();
/// repeated indices add in order. base (.., n, ..), indices and updates (.., m, ..) -> (.., n, ..)
Var scatter_add_along(const Var& base, int axis, const Indices& indices, const Var& updates);

/// The largest elements of rows, in descending order, and their places in the row.
struct TopK {
  Var values;
  Indices indices;
};
/// Returns the k <= n largest elements along the last axis; of equal ones the first; NaN counts as
/// the largest. (.., n) -> (.., k) each
TopK topk(const Var& x, std::size_t k);
/// Returns the place of the largest element along an axis, as topk() chooses it. No gradient. (..,
/// n, ..) -> (.., ..)
Indices argmax(const Var& x, int axis = -1);

}  // namespace bochner::inline BOCHNER_PRECISION
