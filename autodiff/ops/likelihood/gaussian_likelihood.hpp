#pragma once
/// Gaussian process likelihood by a Cholesky factor, in double whatever `real` is: float loses
/// small eigenvalues of covariances.

#include <bochner/autodiff/tape.hpp>
#include <functional>
#include <memory>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Writes columns 0, .., i of row i of a symmetric matrix.
using LowerRow = std::function<void(std::size_t row, double* numbers)>;

/// A covariance (n, n) at fixed parameters, in double.
class Covariance {
 public:
  virtual ~Covariance() = default;
  virtual std::size_t size() const = 0;
  /// Computes columns 0, .., i of row i; called in parallel.
  virtual void row(std::size_t i, double* numbers) const = 0;
  /// Returns, per element of each parameter, the sum over rows i and columns j <= i of
  /// weights(i)[j] dK_ij / dparameter, in a fixed order.
  virtual std::vector<std::vector<double>> pull_back(const LowerRow& weights) const = 0;
};

/// Adds `factor` times the slopes of pull_back() to the gradients of the parameters.
void add_slopes(const std::vector<Var>& parameters, const std::vector<std::vector<double>>& slopes,
                double factor);

/// L and alpha = K^-1 y of a covariance.
struct FactoredCovariance {
  PooledNumbers<double> factor;  ///< (n, n), lower triangle
  std::vector<double> alpha;     ///< (n)
  double log_likelihood = 0;     ///< ln N(y; 0, K)
};
/// Factors a covariance; throws std::domain_error if it is not positive definite. y (n)
FactoredCovariance factored(const Covariance& covariance, const std::vector<double>& y);
/// Computes d ln N(y; 0, K) / d parameter per element; replaces the factor by K^-1.
std::vector<std::vector<double>> likelihood_slopes(const Covariance& covariance,
                                                   FactoredCovariance& state);

/// Returns ln N(y; 0, K), K a function of the parameters: -(y^T K^-1 y + ln det K + n ln 2 pi) / 2,
/// with dln N / dK = (alpha alpha^T - K^-1) / 2, alpha = K^-1 y. Rasmussen, Williams, "Gaussian
/// processes for machine learning", 2006, (5.8) and (5.9). Time n^3, memory 16 n^2 bytes. Throws
/// std::domain_error if K is not positive definite. parameters, (n, n), (n) -> ()
Var gaussian_log_likelihood(const std::vector<Var>& parameters,
                            std::shared_ptr<const Covariance> covariance,
                            const std::vector<double>& y);

}  // namespace bochner::inline BOCHNER_PRECISION
