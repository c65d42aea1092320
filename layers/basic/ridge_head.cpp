#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/numeric/ridge_path.hpp>
#include <bochner/layers/basic/ridge_head.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// 1 for the class of an example and -1 for the others, less the means of the classes. (n, K)
struct CentredTargets {
  std::vector<double> values, means;

  CentredTargets(const std::vector<std::int32_t>& labels, std::size_t K)
      : values(labels.size() * K), means(K) {
    const std::size_t n = labels.size();
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < K; ++k) {
        values[i * K + k] = labels[i] == std::int32_t(k) ? 1 : -1;
        means[k] += values[i * K + k] / double(n);
      }
    for (std::size_t i = 0; i < n * K; ++i) values[i] -= means[i % K];
  }
};

/// Returns the mean negative log likelihood of labels by the softmax of factor * scores. One label
/// of n + K is taken for any class, so that scores that are all right have a finite best factor.
double log_loss(const std::vector<double>& scores, const std::vector<std::int32_t>& labels,
                double factor) {
  const std::size_t n = labels.size(), K = scores.size() / n;
  const double stray = 1 / double(n + K);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double *row = scores.data() + i * K, top = *std::max_element(row, row + K);
    double total = 0, mean = 0;
    for (std::size_t k = 0; k < K; ++k) {
      total += std::exp(factor * (row[k] - top));
      mean += (row[k] - top) / double(K);
    }
    sum += std::log(total) - factor * ((1 - stray) * (row[labels[i]] - top) + stray * mean);
  }
  return sum / double(n);
}

/// Returns the likeliest factor on a grid.
double best_factor(const std::vector<double>& scores, const std::vector<std::int32_t>& labels) {
  double best = 1, least = INFINITY;
  for (int step = -4; step <= 20; ++step) {
    const double factor = std::pow(2.0, 0.25 * step), loss = log_loss(scores, labels, factor);
    if (loss < least) least = loss, best = factor;
  }
  return best;
}

}  // namespace

RidgeHead::RidgeHead(std::size_t features, std::size_t outputs)
    : units_(filled({features, 2}, 1)),
      weights_(filled({features, outputs}, 0)),
      biases_(filled({outputs}, 0)),
      factor_(filled({1}, 1)) {
  for (std::size_t j = 0; j < features; ++j) units_(j, 0) = 0;
}

void RidgeHead::set_units(const Tensor& features) {
  constexpr double least = 1e-6;
  const std::size_t d = weights_.shape()[0], n = features.size() / d;
  parallel_rows(d, n, [&](std::size_t j) {
    double mean = 0, squares = 0;
    for (std::size_t i = 0; i < n; ++i) mean += double(features.data()[i * d + j]) / double(n);
    for (std::size_t i = 0; i < n; ++i) {
      const double rest = double(features.data()[i * d + j]) - mean;
      squares += rest * rest;
    }
    const double deviation = std::sqrt(squares / double(n));
    units_(j, 0) = real(mean);
    units_(j, 1) = deviation > least ? real(deviation) : real(1);
  });
}

std::vector<double> RidgeHead::standardized(const Tensor& features) const {
  const std::size_t d = weights_.shape()[0], n = features.size() / d;
  std::vector<double> x(n * d);
  parallel_rows(n, d, [&](std::size_t i) {
    for (std::size_t j = 0; j < d; ++j)
      x[i * d + j] = standardized(double(features.data()[i * d + j]), j);
  });
  return x;
}

std::vector<double> RidgeHead::fit_centred(const Tensor& features,
                                           const std::vector<double>& targets) {
  constexpr double most_leverage = 1 - 1e-6;
  const std::size_t d = weights_.shape()[0], K = biases_.size(), n = targets.size() / K;
  require(features.size() == n * d, "ridge head", "features of ", n, " examples, not ",
          to_string(features.shape()));
  set_units(features);
  const std::vector<double> x = standardized(features);
  const RidgePath path(n, d, K, x, targets, most_leverage);
  std::vector<double> penalties;
  for (double exponent = -5; exponent <= 2; exponent += 0.5)
    penalties.push_back(double(d) * std::pow(10.0, exponent));
  const double penalty = path.best_penalty(penalties, RidgePath::Error::squared);
  std::ranges::transform(path.weights(penalty), weights_.data(), [](double w) { return real(w); });
  return path.left_out(penalty);
}

Tensor RidgeHead::fit(const Tensor& features, const std::vector<std::int32_t>& labels) {
  const std::size_t n = labels.size(), K = biases_.size();
  const CentredTargets targets(labels, K);
  std::vector<double> scores = fit_centred(features, targets.values);
  for (std::size_t i = 0; i < n * K; ++i)
    scores[i] = targets.values[i] + targets.means[i % K] - scores[i];
  const double factor = best_factor(scores, labels);
  std::ranges::transform(targets.means, biases_.data(), [](double b) { return real(b); });
  factor_(0) = real(factor);
  Tensor result = uninitialized({n, K});
  std::ranges::transform(scores, result.data(), [&](double s) { return real(factor * s); });
  return result;
}

std::vector<double> RidgeHead::fit(const Tensor& features, const std::vector<double>& numbers) {
  std::vector<double> targets = numbers;
  biases_(0) = real(remove_means(targets, 1)[0]);
  std::vector<double> predictions = fit_centred(features, targets);
  for (std::size_t i = 0; i < numbers.size(); ++i) predictions[i] = numbers[i] - predictions[i];
  return predictions;
}

Tensor RidgeHead::outputs(const Tensor& features) const {
  const std::size_t d = weights_.shape()[0], K = biases_.size(), n = features.size() / d;
  const std::vector<double> x = standardized(features);
  Tensor outputs = uninitialized({n, K});
  parallel_tasks(n, [&](std::size_t i) {
    std::vector<double> scores(biases_.begin(), biases_.end());
    for (std::size_t j = 0; j < d; ++j)
      for (std::size_t k = 0; k < K; ++k) scores[k] += x[i * d + j] * double(weights_(j, k));
    for (std::size_t k = 0; k < K; ++k) outputs(i, k) = real(double(factor_(0)) * scores[k]);
  });
  return outputs;
}

void RidgeHead::visit(Visitor& visitor) {
  visitor("units", units_);
  visitor("weights", weights_);
  visitor("biases", biases_);
  visitor("factor", factor_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
