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

/// Returns L (n, rank) with A ~ L L^T. Each step takes the row with the largest diagonal error,
/// until it is below `tolerance` times the first one or the rank is `most`. `row` writes a row of A
/// (n, n). Time n rank^2 plus `rank` rows. Harbrecht, Peters, Schneider, 2012.
std::vector<double> pivoted_cholesky(
    std::size_t n, std::vector<double> diagonal, std::size_t most, double tolerance,
    const std::function<void(std::size_t row, double* numbers)>& row);

/// The matrix P = L L^T + noise I, with `noise` a variance.
class LowRankPlusNoise {
 public:
  LowRankPlusNoise(std::size_t n, std::vector<double> factor, double noise);
  std::size_t rank() const { return rank_; }
  /// Returns P^-1 b by Woodbury's formula. b (n, columns)
  std::vector<double> solve(const std::vector<double>& b, std::size_t columns) const;
  double log_determinant() const;
  /// Returns L x + sqrt(noise) y ~ N(0, P) for standard normal x (rank, columns), y (n, columns).
  std::vector<double> colour(const std::vector<double>& x, std::vector<double> y,
                             std::size_t columns) const;

 private:
  std::size_t n_, rank_;
  std::vector<double> factor_;  // (n, rank)
  double noise_;
  std::vector<double> inner_;  // Cholesky factor of noise I + L^T L
};

}  // namespace bochner
