#pragma once
/// Bayesian linear regression on features with conjugate priors: likelihood in time linear in the
/// number of rows, in double whatever `real` is.

#include <bochner/autodiff/tape.hpp>
#include <memory>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Features (n, F) of rows at fixed parameters, in double, recomputed on demand.
class FeatureRows {
 public:
  virtual ~FeatureRows() = default;
  virtual std::size_t size() const = 0;
  virtual std::size_t features() const = 0;
  /// Computes rows begin, .., end - 1. -> (end - begin, F)
  virtual void rows(std::size_t begin, std::size_t end, double* features) const = 0;
  /// Returns the total number of parameter elements.
  virtual std::size_t slopes() const = 0;
  /// Adds to slopes the sum over rows of weights (end - begin, F) times d features / d parameters.
  virtual void pull_back(std::size_t begin, std::size_t end, const double* weights,
                         double* slopes) const = 0;
};

/// Posterior of y = features w + noise, w ~ N(0, s^2 I / noise^2), noise ~ N(0, s^2), s^2 ~
/// InverseGamma(shape, shape noise^2): a normal-inverse-gamma distribution. Bishop, "Pattern
/// recognition and machine learning", 2006, exercises 3.12 and 3.13.
struct ConjugatePosterior {
  double noise;                 ///< prior standard deviation
  std::vector<double> factor;   ///< L of I + F^T F / noise^2, lower triangle
  std::vector<double> weights;  ///< mean of noise w
  double shape, rate;           ///< of s^2
  double log_likelihood;        ///< ln p(y), a multivariate t
};
/// Returns exp(log_noise) with a lower bound on its square, below which the factor of `rows`
/// unit-length feature rows would be dominated by rounding.
double floored_noise(double log_noise, std::size_t rows);
/// Computes the posterior in two passes over blocks of rows, time n F^2. y (n)
ConjugatePosterior conjugate_posterior(const FeatureRows& features, const std::vector<double>& y,
                                       double noise, double shape);

/// Prediction of one row: a t distribution with 2 shape degrees of freedom.
struct ConjugatePrediction {
  double mean, scale;
};
/// Predicts rows; overwrites features (count, F). -> (count)
std::vector<ConjugatePrediction> predict(const ConjugatePosterior& posterior, std::size_t count,
                                         double* features);

/// Returns ln p(y) with noise floored_noise(log_noise). Another pass computes the feature
/// gradients. parameters of the features in the order of their slopes, (1), (n) -> ()
Var conjugate_log_likelihood(const std::vector<Var>& parameters, const Var& log_noise,
                             std::shared_ptr<const FeatureRows> features,
                             const std::vector<double>& y, double shape);

}  // namespace bochner::inline BOCHNER_PRECISION
