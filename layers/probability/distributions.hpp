#pragma once
/// Distributions: log densities, entropies and divergences in nats, and draws, which are functions
/// of a seed: `draws` yields the numbers of a RandomFunction one by one. Formulas: Bishop, "Pattern
/// recognition and machine learning", 2006, appendix B.

#include <algorithm>
#include <bochner/autodiff/real.hpp>
#include <bochner/base/numeric/philox.hpp>
#include <cmath>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// N(mean, deviation^2).
struct NormalDistribution {
  double mean = 0, deviation = 1;
  double log_density(double x) const;
  double entropy() const;
  /// mean + deviation z, whose derivatives by the parameters are 1 and z.
  double draw(Draws& draws) const { return mean + deviation * draws.normal(); }
};

/// rate^shape x^(shape - 1) exp(-rate x) / Gamma(shape), x > 0.
struct GammaDistribution {
  double shape = 1, rate = 1;
  double mean() const { return shape / rate; }
  double log_density(double x) const;
  double entropy() const;
  /// The quantile of one uniform number, differentiable by the parameters.
  double draw(Draws& draws) const;
};

/// x^(a - 1) (1 - x)^(b - 1) / B(a, b), 0 < x < 1.
struct BetaDistribution {
  double a = 1, b = 1;
  double mean() const { return a / (a + b); }
  double log_density(double x) const;
  double entropy() const;
  double draw(Draws& draws) const;
};

/// prod x_k^(a_k - 1) Gamma(sum a) / prod Gamma(a_k), x (K) on the simplex.
struct DirichletDistribution {
  std::vector<double> a;
  double total() const;
  double log_density(const std::vector<double>& x) const;
  double entropy() const;
  std::vector<double> draw(Draws& draws) const;
};

/// P(k) = p_k; the probabilities p (K) sum to 1.
struct CategoricalDistribution {
  std::vector<double> p;
  double log_density(std::size_t k) const { return std::log(p[k]); }
  double entropy() const;
  std::size_t draw(Draws& draws) const;
};

/// N(mean, covariance) in d dimensions.
struct MultivariateNormalDistribution {
  std::vector<double> mean;        ///< (d)
  std::vector<double> covariance;  ///< (d, d), positive definite
  /// Throws NotPositiveDefinite.
  double log_density(const std::vector<double>& x) const;
  double entropy() const;
  std::vector<double> draw(Draws& draws) const;
};

/// shape scale^shape / x^(shape + 1), x >= scale.
struct ParetoDistribution {
  double shape = 1, scale = 1;
  double log_density(double x) const;
  double entropy() const { return std::log(scale / shape) + 1 / shape + 1; }
  double draw(Draws& draws) const { return scale * std::pow(draws.uniform(), -1 / shape); }
};

/// The density of positive definite X (d, d) is |X|^((degrees - d - 1) / 2) exp(-tr(scale^-1 X) /
/// 2) over its integral; degrees > d - 1. The mean is degrees scale.
struct WishartDistribution {
  double degrees = 1;
  std::vector<double> scale;  ///< (d, d), positive definite
  std::size_t dim() const { return std::size_t(std::lround(std::sqrt(double(scale.size())))); }
  /// Throws NotPositiveDefinite.
  double log_density(const std::vector<double>& x) const;
  double entropy() const;
  /// E ln |X|. Bishop, (B.81).
  double expected_log_determinant() const;
  /// By the decomposition of Bartlett, "On the theory of statistical regression", 1933.
  std::vector<double> draw(Draws& draws) const;
};

/// Student's t in d dimensions: a normal distribution whose precision matrix is scale^-1 times a
/// gamma variable of mean 1. Bishop, (2.161).
struct StudentDistribution {
  double degrees = 1;
  std::vector<double> mean;   ///< (d)
  std::vector<double> scale;  ///< (d, d), positive definite
  double log_density(const std::vector<double>& x) const;
  double entropy() const;
  std::vector<double> draw(Draws& draws) const;
};

/// The log density of Student's t at many points: its scale is factored once.
class StudentDensity {
 public:
  /// Throws NotPositiveDefinite.
  explicit StudentDensity(const StudentDistribution& p);
  /// (d)
  double operator()(const double* x) const;

 private:
  double degrees_, at_mean_;
  std::vector<double> mean_, factor_;
};

// KL(p || q) = E_p ln(p / q) in closed form, in nats.

double kl_divergence(const NormalDistribution& p, const NormalDistribution& q);
double kl_divergence(const GammaDistribution& p, const GammaDistribution& q);
double kl_divergence(const BetaDistribution& p, const BetaDistribution& q);
double kl_divergence(const DirichletDistribution& p, const DirichletDistribution& q);
/// Infinite if q_k = 0 for some p_k > 0.
double kl_divergence(const CategoricalDistribution& p, const CategoricalDistribution& q);
double kl_divergence(const WishartDistribution& p, const WishartDistribution& q);
double kl_divergence(const MultivariateNormalDistribution& p,
                     const MultivariateNormalDistribution& q);
/// Infinite if p.scale < q.scale, where q has no density.
double kl_divergence(const ParetoDistribution& p, const ParetoDistribution& q);

struct Estimate {
  double mean, error;  ///< and its standard error
};
/// Estimates KL(p || q) from `count` draws of p, for pairs that have no closed form: Student's t,
/// or two families.
template <class P, class Q>
Estimate estimate_kl_divergence(const P& p, const Q& q, Draws draws, std::size_t count) {
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto x = p.draw(draws);
    const double log_ratio = p.log_density(x) - q.log_density(x);
    sum += log_ratio, squares += log_ratio * log_ratio;
  }
  const double n = double(count), mean = sum / n;
  return {mean, std::sqrt(std::max(0.0, squares / n - mean * mean) / n)};
}

/// ln Gamma_d(x), the multivariate gamma function: d (d - 1) / 4 ln pi + sum_i ln Gamma(x - i / 2),
/// i = 0 .. d - 1.
double log_multivariate_gamma(std::size_t d, double x);

/// Returns |L^-1 (x - mean)|^2, the squared Mahalanobis distance for the covariance L L^T. L (d, d)
/// lower triangular, mean (d), x (d)
double squared_mahalanobis(const std::vector<double>& factor, const std::vector<double>& mean,
                           const double* x);

/// The inverse of a positive definite matrix (d, d). Throws NotPositiveDefinite.
std::vector<double> inverse_of(std::vector<double> a, std::size_t d);

}  // namespace bochner::inline BOCHNER_PRECISION
