#pragma once
/// What feature maps are made of besides products and elementwise ops.

#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Walsh-Hadamard transform of the last axis in natural order, divided by sqrt(n): its own inverse
/// and adjoint, n log n additions. n must be a power of two. (.., n) -> (.., n)
Var hadamard(const Var& x);
/// All products y[i m + j] = a[i] b[j], so that y(a, b) . y(a', b') = (a . a')(b . b'). (.., n),
/// (.., m) -> (.., n m)
Var feature_product(const Var& a, const Var& b);
/// x_i^2 / sqrt(2) and x_i x_j, i < j, row by row: y(x) . y(x') = (x . x')^2 / 2.
/// (.., d) -> (.., d (d + 1) / 2)
Var packed_square(const Var& x);

}  // namespace bochner::inline BOCHNER_PRECISION
