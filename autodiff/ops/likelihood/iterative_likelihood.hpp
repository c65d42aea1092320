#pragma once
/// Gaussian process likelihood by conjugate gradients: less memory and time than Cholesky.

#include <bochner/autodiff/ops/likelihood/gaussian_likelihood.hpp>
#include <bochner/base/keys.hpp>
#include <bochner/base/numeric/conjugate_gradients.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// A covariance with row access and noise on the diagonal.
class RowwiseCovariance : public Covariance {
 public:
  /// Computes all columns of row i, without noise.
  virtual void full_row(std::size_t i, double* numbers) const = 0;
  /// Returns element (i, i) without noise.
  virtual double variance(std::size_t i) const = 0;
  /// Returns the noise variance, above 0.
  virtual double noise() const = 0;
};

struct IterativeSpec {
  std::size_t probes = 10;   ///< for the log determinant and traces; exact from n + rank on
  std::size_t rank = 100;    ///< of the preconditioner
  double tolerance = 1e-12;  ///< see LinearSystem
  std::size_t max_steps = 1000;
};
inline void describe(Keys& keys, IterativeSpec& spec) {
  keys("probes", spec.probes, between(1, 1 << 16),
       "draws that estimate the log determinant and its gradient");
  keys("rank", spec.rank, between(0, 1 << 16),
       "rank of the pivoted Cholesky factor that preconditions");
  keys("tolerance", spec.tolerance, {{.lowest = 0, .highest = 0.01, .above_lowest = true}},
       "relative squared residual at which conjugate gradients stop");
}

/// A covariance stored as `real` with its diagonal in double, and its preconditioner. Memory 2 n^2
/// bytes in float. Throws std::domain_error if rounding of the entries is not small against the
/// noise; solve() throws if conjugate gradients break down or do not converge.
class IterativeCovariance {
 public:
  IterativeCovariance(const RowwiseCovariance& covariance, const IterativeSpec& spec);
  std::size_t size() const { return n_; }
  std::vector<double> times(const std::vector<double>& x, std::size_t columns) const;
  LinearSolution solve(const std::vector<double>& b, std::size_t columns) const;
  const LowRankPlusNoise& preconditioner() const { return preconditioner_; }

 private:
  std::size_t tile_size(std::size_t block) const;
  void copy_tile(std::size_t block, std::size_t other, double* tile) const;
  std::size_t n_;
  IterativeSpec spec_;
  Storage lower_;                 // rows 0, .., i of the triangle, 0 on the diagonal
  std::vector<double> diagonal_;  // (n)
  LowRankPlusNoise preconditioner_;
};

/// Returns ln N(y; 0, K) by preconditioned conjugate gradients: ln det K by Lanczos quadrature, its
/// gradient by traces, both over the same fixed samples of N(0, P), P the preconditioner; unbiased
/// up to the tolerance. Throws std::domain_error, see IterativeCovariance. Gardner et al.,
/// "GPyTorch", 2018; Ubaru, Chen, Saad, 2017. parameters, (n, n), (n) -> ()
Var iterative_log_likelihood(const std::vector<Var>& parameters,
                             std::shared_ptr<const RowwiseCovariance> covariance,
                             const std::vector<double>& y, const IterativeSpec& spec);

}  // namespace bochner::inline BOCHNER_PRECISION
