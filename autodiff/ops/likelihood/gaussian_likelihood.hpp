#pragma once
/// The likelihood of a Gaussian process, by a Cholesky factor in double whatever `real` is: small
/// eigenvalues of covariances are lost in float.

#include <bochner/autodiff/tape.hpp>
#include <functional>
#include <memory>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Writes numbers of row i of a symmetric matrix, columns 0, .., i.
using LowerRow = std::function<void(std::size_t row, double* numbers)>;

/// A covariance (n, n) at fixed values of its parameters, in double.
class Covariance {
 public:
  virtual ~Covariance() = default;
  virtual std::size_t size() const = 0;
  /// Columns 0, .., i of row i, in parallel.
  virtual void row(std::size_t i, double* numbers) const = 0;
  /// Sums over rows i and columns j <= i of weights(i)[j] dK_ij / dparameter, in a fixed order: for
  /// each of the op's parameters its elements.
  virtual std::vector<std::vector<double>> pull_back(const LowerRow& weights) const = 0;
};

/// Adds factor times the slopes that pull_back() gives to the parameters' gradients.
void add_slopes(const std::vector<Var>& parameters, const std::vector<std::vector<double>>& slopes,
                double factor);

/// L and alpha = K^-1 y of a covariance.
struct FactoredCovariance {
  PooledNumbers<double> factor;  ///< (n, n), lower triangle
  std::vector<double> alpha;     ///< (n)
  double log_likelihood = 0;     ///< ln N(y; 0, K)
};
/// Throws std::domain_error where it has no Cholesky factor. y (n)
FactoredCovariance factored(const Covariance& covariance, const std::vector<double>& y);
/// d ln N(y; 0, K) / d parameter, for each of the covariance's parameters its elements. The factor
/// becomes K^-1.
std::vector<std::vector<double>> likelihood_slopes(const Covariance& covariance,
                                                   FactoredCovariance& state);

/// ln N(y; 0, K), K a function of the parameters: -(y^T K^-1 y + ln det K + n ln 2 pi) / 2, with
/// dln N / dK = (alpha alpha^T - K^-1) / 2, alpha = K^-1 y. Rasmussen, Williams, "Gaussian
/// processes for machine learning", 2006, (5.8) and (5.9). Time n^3, memory 16 n^2 bytes. Throws
/// std::domain_error where K has no Cholesky factor. parameters, (n, n), (n) -> ()
Var gaussian_log_likelihood(const std::vector<Var>& parameters,
                            std::shared_ptr<const Covariance> covariance,
                            const std::vector<double>& y);

}  // namespace bochner::inline BOCHNER_PRECISION
