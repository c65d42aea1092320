#pragma once
/// Linear systems and Cholesky factors, computed in double.

#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns A^-1 b by LU factors with partial pivoting; leading axes broadcast. Throws
/// std::domain_error for a singular matrix. a (.., n, n), b (.., n, k) -> (.., n, k)
Var linear_solve(const Var& a, const Var& b);
/// Returns the lower triangular L with L L^T = (a + a^T) / 2. Throws std::domain_error unless it is
/// positive definite. Gradient: Murray, "Differentiation of the Cholesky decomposition", 2016.
/// (.., n, n) -> (.., n, n)
Var cholesky_factor(const Var& a);

}  // namespace bochner::inline BOCHNER_PRECISION
