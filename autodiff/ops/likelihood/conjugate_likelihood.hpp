#pragma once
/// Bayesian linear regression on features with conjugate priors: the likelihood of data in time
/// linear in their number, in double whatever `real` is.

#include <bochner/autodiff/tape.hpp>
#include <memory>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Features (n, F) of rows at fixed values of their parameters, in double, made again whenever they
/// are needed.
class FeatureRows {
 public:
  virtual ~FeatureRows() = default;
  virtual std::size_t size() const = 0;
  virtual std::size_t features() const = 0;
  /// Rows begin, .., end - 1. -> (end - begin, F)
  virtual void rows(std::size_t begin, std::size_t end, double* features) const = 0;
  /// How many numbers all its parameters have.
  virtual std::size_t slopes() const = 0;
  /// slopes += sum over these rows of weights (end - begin, F) times d features / d parameters.
  virtual void pull_back(std::size_t begin, std::size_t end, const double* weights,
                         double* slopes) const = 0;
};

/// The posterior of y = features w + noise, w ~ N(0, s^2 I / noise^2), noise ~ N(0, s^2),
/// s^2 ~ InverseGamma(shape, shape noise^2): a normal-inverse-gamma distribution. Bishop, "Pattern
/// recognition and machine learning", 2006, exercises 3.12 and 3.13.
struct ConjugatePosterior {
  double noise;                 ///< deviation, of the prior
  std::vector<double> factor;   ///< L of I + F^T F / noise^2, lower triangle
  std::vector<double> weights;  ///< mean of noise w
  double shape, rate;           ///< of s^2
  double log_likelihood;        ///< ln p(y), a multivariate t
};
/// exp(log_noise), with a floor under its square: below it the factor of so many rows of features
/// of length 1 would be rounding.
double floored_noise(double log_noise, std::size_t rows);
/// Two passes over the rows in blocks, time n F^2. y (n)
ConjugatePosterior conjugate_posterior(const FeatureRows& features, const std::vector<double>& y,
                                       double noise, double shape);

/// Of one row: a t distribution with 2 shape degrees of freedom.
struct ConjugatePrediction {
  double mean, scale;
};
/// features (count, F) are overwritten. -> (count)
std::vector<ConjugatePrediction> predict(const ConjugatePosterior& posterior, std::size_t count,
                                         double* features);

/// ln p(y) with noise floored_noise(log_noise). The slopes of the features come from another pass.
/// parameters of the features, in the order of their slopes, (1), (n) -> ()
Var conjugate_log_likelihood(const std::vector<Var>& parameters, const Var& log_noise,
                             std::shared_ptr<const FeatureRows> features,
                             const std::vector<double>& y, double shape);

}  // namespace bochner::inline BOCHNER_PRECISION
