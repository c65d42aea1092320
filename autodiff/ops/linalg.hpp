#pragma once
/// Matrix products. Leading axes broadcast; a 2-D factor applies to the whole batch in one product.

#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns a b. (.., M, K), (.., K, N) -> (.., M, N)
Var matmul(const Var& a, const Var& b);
/// Returns a b^T. (.., M, K), (.., N, K) -> (.., M, N)
Var matmul_nt(const Var& a, const Var& b);
/// Returns a^T b. (.., K, M), (.., K, N) -> (.., M, N)
Var matmul_tn(const Var& a, const Var& b);
/// Returns x w + bias. (.., D), (D, E), (E) -> (.., E)
Var affine(const Var& x, const Var& w, const Var& bias);
/// Returns x w + bias in any shape with rows of E, which splits or joins heads. x, (D, E), (E) ->
/// shape
Var affine(const Var& x, const Var& w, const Var& bias, const Shape& shape);
/// Returns residual + x w + bias, computed in the tiles of the product and bit-equal to separate
/// ops. (..), x as above, (D, E), (E) -> (..)
Var affine_add(const Var& residual, const Var& x, const Var& w, const Var& bias);
/// Returns gelu(x w + bias); stores slopes, not arguments. (.., D), (D, E), (E) -> (.., E)
Var affine_gelu(const Var& x, const Var& w, const Var& bias);
/// Multiplies each head's rows by its own transposed matrix: y[.., h, :] = w[h] x[.., h, :]. (..,
/// H, d), (H, m, d) -> (.., H, m)
Var project_heads(const Var& x, const Var& w);

/// Returns Q of A = Q R with a positive diagonal of R, so that Q is uniform (Haar) for a Gaussian
/// A; LAPACK's Q is not. Constants only. (n, n) -> (n, n)
Tensor orthogonalize(const Tensor& a);

}  // namespace bochner::inline BOCHNER_PRECISION
