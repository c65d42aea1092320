#pragma once
/// Random Fourier features of a Gaussian process kernel at fixed parameters.

#include <bochner/autodiff/ops/likelihood/conjugate_likelihood.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Computes sqrt(variance_t / m) [cos(omega . x), sin(omega . x)] for m frequencies per term, then
/// sqrt(c) and sqrt(b_j) x_j of the trend: the kernel in the mean over draws (Rahimi, Recht, 2007).
/// Coordinates of frequencies are draws of the inputs' densities, each in its own fixed random
/// order (a Latin hypercube), as quasi-random draws of different heads are correlated. Slopes: by
/// the draws (H, m), by the log variances of the terms and of the trend.
class ProcessFeatures : public FeatureRows {
 public:
  struct Parameters {
    std::vector<std::vector<std::size_t>> terms;  ///< inputs; heads are numbered across terms
    std::vector<double> draws;                    ///< (H, m)
    std::vector<double> variances, trend;         ///< see GaussianProcess
  };
  /// Takes rows (d, n).
  ProcessFeatures(std::vector<std::vector<double>> rows, Parameters parameters);

  ProcessFeatures of(std::vector<std::vector<double>> rows) const {
    ProcessFeatures features = *this;
    features.rows_ = std::move(rows);
    return features;
  }

  std::size_t inputs() const { return inputs_; }
  std::size_t size() const override { return rows_.empty() ? 0 : rows_[0].size(); }
  std::size_t features() const override {
    return 2 * m_ * parameters_.terms.size() + parameters_.trend.size();
  }
  void rows(std::size_t begin, std::size_t end, double* features) const override;
  std::size_t slopes() const override {
    return parameters_.draws.size() + parameters_.terms.size() + parameters_.trend.size();
  }
  void pull_back(std::size_t begin, std::size_t end, const double* weights,
                 double* slopes) const override;

 private:
  /// Computes omega . x of term t, which begins at head `first_head`. -> (m)
  void phases(std::size_t t, std::size_t first_head, std::size_t row, double* phase) const;
  /// Returns the index of a frequency of a head among all draws.
  std::size_t place(std::size_t head, std::size_t k) const {
    return head * m_ + (*orders_)[head][k];
  }
  std::vector<std::vector<double>> rows_;
  Parameters parameters_;
  std::size_t inputs_, m_;
  std::shared_ptr<const std::vector<std::vector<std::size_t>>> orders_;  // (H, m)
};

}  // namespace bochner::inline BOCHNER_PRECISION
