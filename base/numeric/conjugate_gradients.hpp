#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace bochner {

/// Maps a block of vectors (n, columns), row-major, to another.
using BlockOperator = std::function<std::vector<double>(const std::vector<double>& block)>;

struct LinearSystem {
  BlockOperator apply;  ///< multiplies by A, symmetric positive definite
  BlockOperator precondition =
      {};  ///< multiplies by about A^-1, symmetric positive definite; none: identity
  std::size_t columns = 1;
  /// A column has converged when r^T M r is below this fraction of its initial value (r the
  /// residual, M the preconditioner).
  double tolerance = 1e-20;
  std::size_t max_steps = 1000;
  bool strict = false;  ///< throw if A is not positive definite or a column does not converge
};

struct LinearSolution {
  std::vector<double> x;
  /// Step sizes alpha and direction coefficients beta of each column, one per step; they are the
  /// coefficients of a Lanczos process.
  std::vector<std::vector<double>> alphas, betas;
};

/// Solves A x = b from x0, given the residual b - A x0; each column has its own step sizes. Exact
/// after n steps up to rounding. Throws std::domain_error if `strict`. Hestenes, Stiefel, 1952.
LinearSolution conjugate_gradients(const LinearSystem& system, std::vector<double> x0,
                                   std::vector<double> residual);

}  // namespace bochner
