#include <bochner/autodiff/compute/math.hpp>
#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/numeric/special_functions.hpp>
#include <bochner/layers/gaussian_processes/process_posterior.hpp>
#include <bochner/layers/gaussian_processes/process_rows.hpp>
#include <cmath>
#include <numbers>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t prediction_block = 256;

/// Computes covariances with all n rows, (n, count), and the variance of each new observation.
void cross_covariances(const ProcessKernel& kernel, const std::vector<std::vector<double>>& inputs,
                       std::size_t begin, std::size_t count, std::vector<double>& cross,
                       std::vector<double>& variance) {
  const std::size_t n = kernel.size();
  parallel_each(count, 1, [&](std::size_t c) {
    std::vector<double> point, k(n);
    for (const auto& column : inputs) point.push_back(column[begin + c]);
    kernel.between(point, n, k.data());
    for (std::size_t i = 0; i < n; ++i) cross[i * count + c] = k[i];
    variance[c] = kernel.prior_variance(point) + kernel.noise();
  });
}

/// Posterior by the covariance C of the rows: a new observation with covariances k has mean k^T
/// C^-1 y, and its variance falls by k^T C^-1 k.
class KernelPosterior : public ProcessPosterior {
 public:
  explicit KernelPosterior(std::shared_ptr<const ProcessKernel> kernel)
      : ProcessPosterior(kernel->inputs()), kernel_(std::move(kernel)) {}

 protected:
  double degrees() const override { return std::numeric_limits<double>::infinity(); }

  void predict_block(const std::vector<std::vector<double>>& inputs, std::size_t begin,
                     std::size_t count, ProcessPrediction& result) const override {
    const std::size_t n = kernel_->size();
    std::vector<double> cross(n * count), variance(count);
    cross_covariances(*kernel_, inputs, begin, count, cross, variance);
    const std::vector<double>& weights = alpha();
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t c = 0; c < count; ++c)
        result.mean[begin + c] += cross[i * count + c] * weights[i];
    subtract_explained(std::move(cross), variance);
    for (std::size_t c = 0; c < count; ++c)
      result.scale[begin + c] = std::sqrt(std::max(variance[c], kernel_->noise()));
  }

  /// Returns C^-1 y, (n).
  virtual const std::vector<double>& alpha() const = 0;
  /// Subtracts k^T C^-1 k from each variance; cross is (n, count).
  virtual void subtract_explained(std::vector<double> cross,
                                  std::vector<double>& variance) const = 0;

  std::shared_ptr<const ProcessKernel> kernel_;
};

class ExactPosterior : public KernelPosterior {
 public:
  ExactPosterior(std::shared_ptr<const ProcessKernel> kernel, FactoredCovariance state)
      : KernelPosterior(std::move(kernel)), state_(std::move(state)) {}

 protected:
  const std::vector<double>& alpha() const override { return state_.alpha; }

  void subtract_explained(std::vector<double> cross, std::vector<double>& variance) const override {
    const std::size_t count = variance.size();
    solve_lower(kernel_->size(), state_.factor.data(), count, cross.data());
    for (std::size_t i = 0; i < cross.size(); ++i) variance[i % count] -= cross[i] * cross[i];
  }

 private:
  FactoredCovariance state_;
};

class IterativePosterior : public KernelPosterior {
 public:
  IterativePosterior(std::shared_ptr<const ProcessKernel> kernel, const std::vector<double>& y,
                     const IterativeSpec& spec)
      : KernelPosterior(std::move(kernel)),
        matrix_(*kernel_, spec),
        alpha_(matrix_.solve(y, 1).x) {}

 protected:
  const std::vector<double>& alpha() const override { return alpha_; }

  void subtract_explained(std::vector<double> cross, std::vector<double>& variance) const override {
    const std::size_t count = variance.size();
    const std::vector<double> solved =
        explain_singular(kernel_->noise(), "cg", [&] { return matrix_.solve(cross, count).x; });
    for (std::size_t i = 0; i < cross.size(); ++i) variance[i % count] -= cross[i] * solved[i];
  }

 private:
  IterativeCovariance matrix_;
  std::vector<double> alpha_;
};

class FeaturePosterior : public ProcessPosterior {
 public:
  FeaturePosterior(std::shared_ptr<const ProcessFeatures> features, ConjugatePosterior posterior)
      : ProcessPosterior(features->inputs()),
        features_(std::move(features)),
        posterior_(std::move(posterior)) {}

 protected:
  double degrees() const override { return 2 * posterior_.shape; }

  void predict_block(const std::vector<std::vector<double>>& inputs, std::size_t begin,
                     std::size_t count, ProcessPrediction& result) const override {
    std::vector<std::vector<double>> block;
    for (const auto& column : inputs)
      block.emplace_back(column.begin() + std::ptrdiff_t(begin),
                         column.begin() + std::ptrdiff_t(begin + count));
    const ProcessFeatures features = features_->of(std::move(block));
    std::vector<double> numbers(count * features.features());
    features.rows(0, count, numbers.data());
    const auto predictions = bochner::predict(posterior_, count, numbers.data());
    for (std::size_t c = 0; c < count; ++c) {
      result.mean[begin + c] = predictions[c].mean;
      result.scale[begin + c] = predictions[c].scale;
    }
  }

 private:
  std::shared_ptr<const ProcessFeatures> features_;
  ConjugatePosterior posterior_;
};

}  // namespace

double ProcessPrediction::deviation(std::size_t row) const {
  if (degrees <= 2) return std::numeric_limits<double>::infinity();
  return std::isinf(degrees) ? scale[row] : scale[row] * std::sqrt(degrees / (degrees - 2));
}

double ProcessPrediction::quantile(std::size_t row, double probability) const {
  require(probability > 0 && probability < 1, "quantile", "probability = ", probability,
          " must be between 0 and 1");
  return mean[row] + scale[row] * quantile::student(degrees, probability);
}

double ProcessPrediction::log_density(std::size_t row, double observed) const {
  const double score = (observed - mean[row]) / scale[row], n = degrees;
  if (std::isinf(n)) return -(score * score + log_two_pi) / 2 - std::log(scale[row]);
  return std::lgamma((n + 1) / 2) - std::lgamma(n / 2) - std::log(n * std::numbers::pi) / 2 -
         (n + 1) / 2 * std::log1p(score * score / n) - std::log(scale[row]);
}

ProcessPrediction ProcessPosterior::predict(const std::vector<std::vector<double>>& inputs) const {
  require_rows(inputs, inputs_);
  const std::size_t rows = inputs.empty() ? 0 : inputs[0].size();
  ProcessPrediction result{std::vector<double>(rows), std::vector<double>(rows), degrees()};
  for (std::size_t begin = 0; begin < rows; begin += prediction_block)
    predict_block(inputs, begin, std::min(prediction_block, rows - begin), result);
  return result;
}

std::unique_ptr<ProcessPosterior> exact_posterior(std::shared_ptr<const ProcessKernel> kernel,
                                                  FactoredCovariance state) {
  return std::make_unique<ExactPosterior>(std::move(kernel), std::move(state));
}

std::unique_ptr<ProcessPosterior> iterative_posterior(std::shared_ptr<const ProcessKernel> kernel,
                                                      const std::vector<double>& y,
                                                      const IterativeSpec& spec) {
  return std::make_unique<IterativePosterior>(std::move(kernel), y, spec);
}

std::unique_ptr<ProcessPosterior> feature_posterior(std::shared_ptr<const ProcessFeatures> features,
                                                    ConjugatePosterior posterior) {
  return std::make_unique<FeaturePosterior>(std::move(features), std::move(posterior));
}

}  // namespace bochner::inline BOCHNER_PRECISION
