#pragma once
/// k(lag) of densities of one dimension, in double, with its slopes by their parameters: what a
/// Gaussian process learns through. Parameters are plain numbers here.

#include <bochner/autodiff/real.hpp>
#include <cstddef>
#include <memory>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// k(0) = 1.
class KernelCurve {
 public:
  virtual ~KernelCurve() = default;
  /// How many parameters it has: those of a head of the density, in the order of their visit.
  virtual std::size_t parameters() const = 0;
  /// k(lag) of n lags.
  virtual void values(std::size_t n, const double* lags, double* k) const = 0;
  /// slopes[p] += sum over i of weights[i] dk(lags[i]) / dparameter p
  virtual void pull_back(std::size_t n, const double* lags, const double* weights,
                         double* slopes) const = 0;
};

/// cos(mean lag) exp(-t^2 / 2), t = exp(log_scale) |lag|: the Gaussian. Parameters mean, log_scale.
std::unique_ptr<KernelCurve> gaussian_curve(double mean, double log_scale);
/// cos(mean lag) / (1 + t^2 / 2): the Laplace distribution's. The same parameters.
std::unique_ptr<KernelCurve> laplace_curve(double mean, double log_scale);
/// cos(mean lag) exp(-t): Cauchy's. The same parameters.
std::unique_ptr<KernelCurve> cauchy_curve(double mean, double log_scale);
/// cos(mean lag) matern(degrees / 2, sqrt(degrees) t), degrees = smallest + exp(free): Student's t.
/// Parameters free, mean, log_scale. Read from a table by polynomials of degree 7, within 2e-11 of
/// the formula: covariances stay positive definite where noise is small.
std::unique_ptr<KernelCurve> student_curve(double smallest, double free, double mean,
                                           double log_scale);
/// sum_c w_c cos(mean_c lag) exp(-(scale_c lag)^2 / 2), w = softmax(logits): Wilson, Adams, 2013.
/// Parameters mean (K), log_scale (K), logits (K).
std::unique_ptr<KernelCurve> mixture_curve(std::vector<double> mean, std::vector<double> log_scale,
                                           std::vector<double> logits);
/// The mean of cos(frequency lag). Parameters: the frequencies.
std::unique_ptr<KernelCurve> cosine_curve(std::vector<double> frequencies);

}  // namespace bochner::inline BOCHNER_PRECISION
