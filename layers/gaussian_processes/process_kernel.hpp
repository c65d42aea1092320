#pragma once
/// Kernel of a Gaussian process at fixed parameters, in double.

#include <bochner/autodiff/ops/likelihood/iterative_likelihood.hpp>
#include <bochner/layers/spectral/kernel_curve.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// A variance times the product of one curve per input.
struct ProcessTerm {
  double variance;
  std::vector<std::size_t> inputs;
  std::vector<std::unique_ptr<KernelCurve>> curves;
};

/// Computes variance_t prod_j k_tj(lag_j) over terms, plus trend and noise, see GaussianProcess.
class ProcessKernel : public RowwiseCovariance {
 public:
  /// Takes rows (d, n), and trend variances: of the level, then of the slopes. The op's parameters
  /// are those of the density, with `sizes` per head, then the log variances of the terms, the log
  /// deviation of the noise and the log variances of the trend.
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

  /// Returns k without noise between a point and rows 0, .., count - 1. (d) -> (count)
  void between(const std::vector<double>& point, std::size_t count, double* k) const;
  /// Returns the prior variance of the function at a point.
  double prior_variance(const std::vector<double>& point) const;
  double noise() const override { return noise_; }

 private:
  struct Scratch {
    explicit Scratch(std::size_t n, std::size_t curves)
        : lags(n), weights(n), others(n), k(curves, std::vector<double>(n)) {}
    std::vector<double> lags, weights, others;
    std::vector<std::vector<double>> k;
  };
  std::vector<double> point_of(std::size_t row) const {
    std::vector<double> point;
    for (const auto& column : rows_) point.push_back(column[row]);
    return point;
  }
  void lags_of(const std::vector<double>& point, std::size_t input, std::size_t count,
               double* lags) const;
  void pull_term(std::size_t t, std::size_t first_head, const std::vector<double>& point,
                 std::size_t count, const double* weights, Scratch& scratch, double* slopes) const;
  void pull_trend(const std::vector<double>& point, std::size_t count, const double* weights,
                  double* slopes) const;
  std::vector<std::vector<double>> by_parameter(const std::vector<double>& slopes) const;

  std::vector<std::vector<double>> rows_;
  std::vector<ProcessTerm> terms_;
  double noise_;
  std::vector<double> trend_;
  std::vector<std::size_t> sizes_;
  std::size_t heads_ = 0, head_size_ = 0, max_inputs_ = 0;
};

}  // namespace bochner::inline BOCHNER_PRECISION
