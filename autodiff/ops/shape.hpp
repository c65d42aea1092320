#pragma once
/// Ops that move elements and do not change them.

#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// The same elements in the same order in another shape. (..) -> shape
Var reshape(const Var& x, const Shape& shape);
/// Axes in another order: axis i of the result is axis order[i] of x. (..) -> (..)
Var transpose(const Var& x, const std::vector<int>& order);
/// Elements begin <= i < end of one axis. (.., n, ..) -> (.., end - begin, ..)
Var slice(const Var& x, int axis, std::size_t begin, std::size_t end);
/// Arrays that differ in one axis only, one after the other. (.., n_i, ..) -> (.., sum n_i, ..)
Var concat(const std::vector<Var>& parts, int axis);
/// `before` and `after` elements of `value` around one axis. (.., n, ..) -> (.., before + n +
/// after, ..)
Var pad(const Var& x, int axis, std::size_t before, std::size_t after, real value = 0);
/// Pieces of the last axis, `stride` apart and the last one at its end. (.., n) -> (.., (n -
/// length) / stride + 1, length)
Var patches(const Var& x, std::size_t length, std::size_t stride);
/// Rows of a table: the embedding. table (V, D), indices (..) -> (.., D). Throws when an index is
/// not in [0, V).
Var gather(const Var& table, const Indices& indices);
/// x repeated along axes of size 1 to the given shape. (..) -> shape
Var broadcast_to(const Var& x, const Shape& shape);

}  // namespace bochner::inline BOCHNER_PRECISION
