#pragma once
/// Pivoted partial Cholesky factors, for preconditioners of covariance matrices.

#include <cstddef>
#include <functional>
#include <vector>

namespace bochner {

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
