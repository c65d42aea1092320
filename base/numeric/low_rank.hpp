#pragma once
/// Partial Cholesky factors with pivots, and what they are for: preconditioners of covariances.

#include <cstddef>
#include <functional>
#include <vector>

namespace bochner {

/// L (n, rank) with A about L L^T: in each step the row is taken whose error on the diagonal is
/// largest, until that is below `tolerance` times the first or there are `most` of them. `row`
/// writes a row of A (n, n). Harbrecht, Peters, Schneider, 2012. Time n rank^2, and `rank` rows.
std::vector<double> pivoted_cholesky(
    std::size_t n, std::vector<double> diagonal, std::size_t most, double tolerance,
    const std::function<void(std::size_t row, double* numbers)>& row);

/// P = L L^T + noise I, noise a variance.
class LowRankPlusNoise {
 public:
  LowRankPlusNoise(std::size_t n, std::vector<double> factor, double noise);
  std::size_t rank() const { return rank_; }
  /// P^-1 b by Woodbury's formula. b (n, columns)
  std::vector<double> solve(const std::vector<double>& b, std::size_t columns) const;
  double log_determinant() const;
  /// L x + sqrt(noise) y: of standard normal numbers a draw of N(0, P). x (rank, columns), y
  /// (n, columns)
  std::vector<double> colour(const std::vector<double>& x, std::vector<double> y,
                             std::size_t columns) const;

 private:
  std::size_t n_, rank_;
  std::vector<double> factor_;  // (n, rank)
  double noise_;
  std::vector<double> inner_;  // Cholesky factor of noise I + L^T L
};

}  // namespace bochner
