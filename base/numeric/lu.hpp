#pragma once

#include <cstddef>
#include <vector>

namespace bochner {

/// LU factors of a square matrix with partial pivoting, for many small systems; runs on the calling
/// thread.
class LuFactors {
 public:
  /// Factors a (n, n), row-major. Throws std::domain_error if it is singular or not finite.
  LuFactors(std::size_t n, std::vector<double> a);
  /// Solves A x = b in place. b (n, columns)
  void solve(std::size_t columns, double* b) const;
  /// Solves A^T x = b in place. b (n, columns)
  void solve_transposed(std::size_t columns, double* b) const;

 private:
  const double* row(std::size_t i) const { return a_.data() + i * n_; }
  std::size_t n_;
  std::vector<double> a_;
  std::vector<std::size_t> swaps_;  ///< row that row i was exchanged with
};

}  // namespace bochner
