#pragma once
/// Predictions of conditioned Gaussian processes.

#include <bochner/autodiff/ops/likelihood/conjugate_likelihood.hpp>
#include <bochner/layers/gaussian_processes/process_features.hpp>
#include <bochner/layers/gaussian_processes/process_kernel.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Predictive distribution of observations, noise included: mean + scale t, with Student's t of
/// `degrees`, or normal if infinite.
struct ProcessPrediction {
  std::vector<double> mean, scale;  ///< (n)
  double degrees;

  /// Returns the standard deviation, infinite for two degrees and fewer.
  double deviation(std::size_t row) const;
  /// Returns the quantile at 0 < probability < 1.
  double quantile(std::size_t row, double probability) const;
  double log_density(std::size_t row, double observed) const;
};

class ProcessPosterior {
 public:
  virtual ~ProcessPosterior() = default;
  /// Predicts new rows (d, n). Throws std::invalid_argument as require_rows() does.
  ProcessPrediction predict(const std::vector<std::vector<double>>& inputs) const;

 protected:
  explicit ProcessPosterior(std::size_t inputs) : inputs_(inputs) {}
  /// Predicts rows begin, .., begin + count - 1, at most 256.
  virtual void predict_block(const std::vector<std::vector<double>>& inputs, std::size_t begin,
                             std::size_t count, ProcessPrediction& result) const = 0;
  virtual double degrees() const = 0;

 private:
  std::size_t inputs_;
};

/// Makes a posterior by a factored covariance: time n^2 per new row.
std::unique_ptr<ProcessPosterior> exact_posterior(std::shared_ptr<const ProcessKernel> kernel,
                                                  FactoredCovariance state);
/// Makes a posterior by conjugate gradients for each new row.
std::unique_ptr<ProcessPosterior> iterative_posterior(std::shared_ptr<const ProcessKernel> kernel,
                                                      const std::vector<double>& y,
                                                      const IterativeSpec& spec);
/// Makes a posterior by the weights of features: time F^2 per new row.
std::unique_ptr<ProcessPosterior> feature_posterior(std::shared_ptr<const ProcessFeatures> features,
                                                    ConjugatePosterior posterior);

}  // namespace bochner::inline BOCHNER_PRECISION
