#pragma once
/// Matrix products. Leading axes broadcast; a 2-D factor serves the whole batch as one product.

#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// y = a b. (.., M, K), (.., K, N) -> (.., M, N)
Var matmul(const Var& a, const Var& b);
/// y = a b^T. (.., M, K), (.., N, K) -> (.., M, N)
Var matmul_nt(const Var& a, const Var& b);
/// y = a^T b. (.., K, M), (.., K, N) -> (.., M, N)
Var matmul_tn(const Var& a, const Var& b);
/// y = x w + bias. (.., D), (D, E), (E) -> (.., E)
Var affine(const Var& x, const Var& w, const Var& bias);
/// The same between any two shapes that are rows of D and of E: no head is split off or joined by a
/// copy. x, (D, E), (E) -> shape
Var affine(const Var& x, const Var& w, const Var& bias, const Shape& shape);
/// y = residual + x w + bias, in the tiles of the product, with the bits of the sum of both; x as
/// above. (..), x, (D, E), (E) -> (..)
Var affine_add(const Var& residual, const Var& x, const Var& w, const Var& bias);
/// y = gelu(x w + bias), with the slopes of gelu kept instead of its argument. (.., D), (D, E), (E)
/// -> (.., E)
Var affine_gelu(const Var& x, const Var& w, const Var& bias);
/// Each head's rows times its own matrix, transposed: y[.., h, :] = w[h] x[.., h, :]. (.., H, d),
/// (H, m, d) -> (.., H, m)
Var project_heads(const Var& x, const Var& w);

/// Q of the QR factorisation A = Q R with R's diagonal positive, so that Q is uniform (Haar) for a
/// Gaussian A: LAPACK's own Q is not. Constants only. (n, n) -> (n, n)
Tensor orthogonalize(const Tensor& a);

}  // namespace bochner::inline BOCHNER_PRECISION
