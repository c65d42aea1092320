#pragma once
/// The kernel of a Gaussian process at fixed parameters, as numbers in double.

#include <bochner/autodiff/ops/likelihood/iterative_likelihood.hpp>
#include <bochner/layers/spectral/kernel_curve.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// variance times the product of one curve for each of some inputs.
struct ProcessTerm {
  double variance;
  std::vector<std::size_t> inputs;
  std::vector<std::unique_ptr<KernelCurve>> curves;
};

/// variance_t prod_j k_tj(lag_j) over terms, plus trend and noise: see GaussianProcess.
class ProcessKernel : public RowwiseCovariance {
 public:
  /// rows (d, n); the variances of the trend: of the level, then of the slopes, as many as there
  /// are. Of the op's parameters, the first are those of the density: `sizes` of each for a head;
  /// then the logarithms of the terms' variances, of the deviation of the noise and of the trend's
  /// variances.
  ProcessKernel(std::vector<std::vector<double>> rows, std::vector<ProcessTerm> terms,
                double noise_variance, std::vector<double> trend, std::vector<std::size_t> sizes);

  std::size_t inputs() const { return rows_.size(); }
  std::size_t size() const override { return rows_.empty() ? 0 : rows_[0].size(); }
  void row(std::size_t i, double* numbers) const override;
  void full_row(std::size_t i, double* numbers) const override {
    between(point_of(i), size(), numbers);
  }
  double variance(std::size_t i) const override { return prior_variance(point_of(i)); }
  std::vector<std::vector<double>> pull_back(const LowerRow& weights) const override;

  /// k without noise between a point and rows 0, .., count - 1. (d) -> (count)
  void between(const std::vector<double>& point, std::size_t count, double* k) const;
  /// Of the function at a point, before anything is seen.
  double prior_variance(const std::vector<double>& point) const;
  double noise() const override { return noise_; }

 private:
  /// Room for one row of lags, products and weights.
  struct Room {
    explicit Room(std::size_t n, std::size_t curves)
        : lags(n), weights(n), others(n), k(curves, std::vector<double>(n)) {}
    std::vector<double> lags, weights, others;
    std::vector<std::vector<double>> k;
  };
  std::vector<double> point_of(std::size_t row) const;
  void lags_of(const std::vector<double>& point, std::size_t input, std::size_t count,
               double* lags) const;
  void pull_term(std::size_t t, std::size_t first_head, const std::vector<double>& point,
                 std::size_t count, const double* weights, Room& room, double* slopes) const;
  void pull_trend(const std::vector<double>& point, std::size_t count, const double* weights,
                  double* slopes) const;
  std::vector<std::vector<double>> by_parameter(const std::vector<double>& slopes) const;

  std::vector<std::vector<double>> rows_;
  std::vector<ProcessTerm> terms_;
  double noise_;
  std::vector<double> trend_;
  std::vector<std::size_t> sizes_;
  std::size_t heads_ = 0, head_size_ = 0, most_inputs_ = 0;
};

}  // namespace bochner::inline BOCHNER_PRECISION
