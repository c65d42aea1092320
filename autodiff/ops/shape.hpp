#pragma once

#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns the same elements in another shape. (..) -> shape
Var reshape(const Var& x, const Shape& shape);
/// Permutes axes: axis i of the result is axis order[i] of x. (..) -> (..)
Var transpose(const Var& x, const std::vector<int>& order);
/// Returns elements begin <= i < end of one axis. (.., n, ..) -> (.., end - begin, ..)
Var slice(const Var& x, int axis, std::size_t begin, std::size_t end);
/// Concatenates arrays that differ in one axis only. (.., n_i, ..) -> (.., sum n_i, ..)
Var concat(const std::vector<Var>& parts, int axis);
/// Joins arrays of one shape along a new axis. (..) each -> (.., parts, ..)
Var stack(const std::vector<Var>& parts, int axis);
/// Splits one axis into parts of the given sizes, which fill it. (.., n, ..) -> (.., sizes_i, ..)
std::vector<Var> split(const Var& x, int axis, const std::vector<std::size_t>& sizes);
/// Pads one axis with `value`. (.., n, ..) -> (.., before + n + after, ..)
Var pad(const Var& x, int axis, std::size_t before, std::size_t after, real value = 0);
/// Returns windows of the last axis, `stride` apart, the last one at its end. (.., n) -> (.., (n -
/// length) / stride + 1, length)
Var patches(const Var& x, std::size_t length, std::size_t stride);
/// Returns rows of a table. table (V, D), indices (..) in [0, V), else throws -> (.., D)
Var gather(const Var& table, const Indices& indices);
/// Repeats x along axes of size 1 to the given shape. (..) -> shape
Var broadcast_to(const Var& x, const Shape& shape);

}  // namespace bochner::inline BOCHNER_PRECISION
