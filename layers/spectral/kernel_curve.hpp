#pragma once
/// Kernels k(lag) of one-dimensional densities in double, with slopes by their parameters, for
/// Gaussian processes. Parameters are plain numbers.

#include <bochner/autodiff/real.hpp>
#include <cstddef>
#include <memory>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Kernel with k(0) = 1.
class KernelCurve {
 public:
  virtual ~KernelCurve() = default;
  /// Returns the number of parameters: those of a head of the density, in visiting order.
  virtual std::size_t parameters() const = 0;
  /// Computes k(lag) of n lags.
  virtual void values(std::size_t n, const double* lags, double* k) const = 0;
  /// Adds to slopes[p] the sum over i of weights[i] dk(lags[i]) / dparameter p.
  virtual void pull_back(std::size_t n, const double* lags, const double* weights,
                         double* slopes) const = 0;
};

/// Gaussian: cos(mean lag) exp(-t^2 / 2), t = exp(log_scale) |lag|. Parameters mean, log_scale.
std::unique_ptr<KernelCurve> gaussian_curve(double mean, double log_scale);
/// Laplace distribution: cos(mean lag) / (1 + t^2 / 2). Parameters mean, log_scale.
std::unique_ptr<KernelCurve> laplace_curve(double mean, double log_scale);
/// Cauchy: cos(mean lag) exp(-t). Parameters mean, log_scale.
std::unique_ptr<KernelCurve> cauchy_curve(double mean, double log_scale);
/// Student's t: cos(mean lag) matern(degrees / 2, sqrt(degrees) t), degrees = min_degrees +
/// exp(log_excess). Parameters log_excess, mean, log_scale. Interpolates a table by polynomials of
/// degree 7, within 2e-11, so that covariances stay positive definite with little noise.
std::unique_ptr<KernelCurve> student_curve(double min_degrees, double log_excess, double mean,
                                           double log_scale);
/// Gaussian mixture: sum_c w_c cos(mean_c lag) exp(-(scale_c lag)^2 / 2), w = softmax(logits):
/// Wilson, Adams, 2013. Parameters mean (K), log_scale (K), logits (K).
std::unique_ptr<KernelCurve> mixture_curve(std::vector<double> mean, std::vector<double> log_scale,
                                           std::vector<double> logits);
/// Mean of cos(frequency lag). Parameters: the frequencies.
std::unique_ptr<KernelCurve> cosine_curve(std::vector<double> frequencies);

}  // namespace bochner::inline BOCHNER_PRECISION
