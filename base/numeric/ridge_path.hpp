#pragma once
/// Ridge regression in closed form for all penalties at once.

#include <cstddef>
#include <span>
#include <vector>

namespace bochner {

/// Removes the means of the columns of a (n, d) matrix and returns them. (d)
std::vector<double> remove_means(std::vector<double>& matrix, std::size_t d);

/// Ridge regression of H outputs on L inputs, both without their means, in the basis of the
/// eigenvectors of X^T X, or of X X^T where that is smaller: one decomposition serves all penalties
/// and outputs (Hastie, Tibshirani, Friedman, "The elements of statistical learning", 2009, section
/// 7.10).
class RidgePath {
 public:
  enum class Error { absolute, squared };

  /// inputs (n, L), which must outlive the path, and outputs (n, H). Leverages above the most are
  /// taken for it in left_out().
  RidgePath(std::size_t n, std::size_t L, std::size_t H, std::span<const double> inputs,
            std::vector<double> outputs, double most_leverage = 0.99);
  /// Returns outputs less their predictions by fits without their rows. (n, H)
  std::vector<double> left_out(double penalty) const;
  /// Returns the mean error of left_out().
  double error(double penalty, Error kind = Error::absolute) const;
  /// Returns the penalty of the least error() among powers of ten times the number of rows.
  double best_penalty() const;
  /// Returns the penalty of the least error(), the first among equals.
  double best_penalty(const std::vector<double>& penalties, Error kind) const;
  /// Returns the weights. (L, H)
  std::vector<double> weights(double penalty) const;

 private:
  void decompose_columns();
  void decompose_rows();
  std::size_t size() const { return values_.size(); }
  /// Returns the coefficients in the basis. (size, H)
  std::vector<double> coefficients(double penalty) const;

  std::size_t n_, L_, H_;
  std::span<const double> inputs_;
  std::vector<double> outputs_;  // (n, H)
  double most_leverage_;
  std::vector<double> values_, vectors_;      // (size), (size, L) by rows; of X X^T: no vectors
  std::vector<double> projected_, products_;  // (n, size), (size, H)
};

}  // namespace bochner
