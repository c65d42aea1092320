#pragma once
/// Random Fourier features of the kernel of a Gaussian process at fixed parameters.

#include <bochner/autodiff/ops/likelihood/conjugate_likelihood.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// sqrt(variance_t / m) [cos(omega . x), sin(omega . x)] for the m frequencies of each term, whose
/// coordinates are draws of the inputs' densities, each in a fixed random order of its own, since
/// draws of quasi-random points resemble each other from head to head (a Latin hypercube); then
/// sqrt(c) and sqrt(b_j) x_j of the trend: the kernel in the mean over the draws (Rahimi, Recht,
/// 2007). Slopes: of the draws (H, m), of the logarithms of the terms' variances and of the
/// trend's.
class ProcessFeatures : public FeatureRows {
 public:
  struct Parameters {
    std::vector<std::vector<std::size_t>> terms;  ///< inputs of each; heads are numbered on
    std::vector<double> draws;                    ///< (H, m)
    std::vector<double> variances, trend;         ///< see GaussianProcess
  };
  /// rows (d, n)
  ProcessFeatures(std::vector<std::vector<double>> rows, Parameters parameters);

  /// The same features of other rows.
  ProcessFeatures of(std::vector<std::vector<double>> rows) const {
    ProcessFeatures features = *this;
    features.rows_ = std::move(rows);
    return features;
  }

  std::size_t inputs() const { return inputs_; }
  std::size_t size() const override { return rows_.empty() ? 0 : rows_[0].size(); }
  std::size_t features() const override;
  void rows(std::size_t begin, std::size_t end, double* features) const override;
  std::size_t slopes() const override;
  void pull_back(std::size_t begin, std::size_t end, const double* weights,
                 double* slopes) const override;

 private:
  /// omega . x of term t, whose first head is given. -> (m)
  void phases(std::size_t t, std::size_t first_head, std::size_t row, double* phase) const;
  /// Where the frequencies of a head stand among its draws.
  std::size_t place(std::size_t head, std::size_t k) const {
    return head * m_ + (*orders_)[head][k];
  }
  std::vector<std::vector<double>> rows_;
  Parameters parameters_;
  std::size_t inputs_, m_;
  std::shared_ptr<const std::vector<std::vector<std::size_t>>> orders_;  // (H, m)
};

}  // namespace bochner::inline BOCHNER_PRECISION
