#pragma once
/// Ridge regression in closed form for all penalties at once.

#include <cstddef>
#include <span>
#include <vector>

namespace bochner {

/// Removes the means of the columns of a (n, d) matrix and returns them. (d)
std::vector<double> remove_means(std::vector<double>& matrix, std::size_t d);

/// Ridge regression of H outputs on L inputs, both without their means, in the basis of the
/// eigenvectors of X^T X: one decomposition serves all penalties and outputs (Hastie, Tibshirani,
/// Friedman, "The elements of statistical learning", 2009, section 7.10).
class RidgePath {
 public:
  /// inputs (n, L), outputs (n, H)
  RidgePath(std::size_t n, std::size_t L, std::size_t H, std::span<const double> inputs,
            std::vector<double> outputs);
  /// Returns the mean absolute leave-one-out error.
  double error(double penalty) const;
  /// Returns the penalty of the least error() among powers of ten times the number of rows.
  double best_penalty() const;
  /// Returns the weights. (L, H)
  std::vector<double> weights(double penalty) const;

 private:
  /// Returns the coefficients in the basis. (L, H)
  std::vector<double> coefficients(double penalty) const;

  std::size_t n_, L_, H_;
  std::vector<double> outputs_, vectors_, values_;  // (n, H), (L, L) by rows, (L)
  std::vector<double> projected_, products_;        // (n, L), (L, H)
};

}  // namespace bochner
