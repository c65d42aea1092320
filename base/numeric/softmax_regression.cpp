#include <algorithm>
#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/base/numeric/minimise.hpp>
#include <bochner/base/numeric/softmax_regression.hpp>
#include <cmath>

namespace bochner {

ClassedFeatures ClassedFeatures::rows(const std::vector<std::size_t>& chosen) const {
  ClassedFeatures some{features, classes};
  for (const std::size_t row : chosen) {
    const auto first = values.begin() + std::ptrdiff_t(row * features);
    some.values.insert(some.values.end(), first, first + std::ptrdiff_t(features));
    some.labels.push_back(labels[row]);
  }
  return some;
}

std::vector<double> softmax_probabilities(std::size_t features, std::size_t classes,
                                          std::span<const double> values,
                                          std::span<const double> weights) {
  const std::size_t n = values.size() / features;
  std::vector<double> p(n * classes);
  multiply(n, classes, features, values.data(), false, weights.data(), 0, p.data());
  for (std::size_t i = 0; i < n; ++i) {
    const std::span<double> row(p.data() + i * classes, classes);
    const double most = *std::ranges::max_element(row);
    double sum = 0;
    for (double& x : row) sum += x = std::exp(x - most);
    for (double& x : row) x /= sum;
  }
  return p;
}

double log_loss(const std::vector<double>& probabilities, const std::vector<std::size_t>& labels) {
  constexpr double least = 1e-15;
  const std::size_t classes = probabilities.size() / labels.size();
  double sum = 0;
  for (std::size_t i = 0; i < labels.size(); ++i)
    sum -= std::log(std::max(probabilities[i * classes + labels[i]], least));
  return sum / double(labels.size());
}

std::vector<double> fit_softmax(const ClassedFeatures& rows, double penalty,
                                std::vector<double> weights) {
  constexpr double farthest = 1e4, steepness = 1e-5;
  constexpr int evaluations = 100;
  const std::size_t n = rows.size(), F = rows.features, K = rows.classes;
  const SmoothFunction loss = [&](const std::vector<double>& w, std::vector<double>& gradient) {
    std::vector<double> p = softmax_probabilities(F, K, rows.values, w);
    double value = log_loss(p, rows.labels);
    for (std::size_t i = 0; i < n; ++i) p[i * K + rows.labels[i]] -= 1;
    multiply(F, K, n, rows.values.data(), true, p.data(), 0, gradient.data());
    for (double& slope : gradient) slope /= double(n);
    for (std::size_t i = 0; i < (F - 1) * K; ++i) {
      value += penalty / 2 * w[i] * w[i];
      gradient[i] += penalty * w[i];
    }
    return value;
  };
  const std::vector<double> low(F * K, -farthest), high(F * K, farthest);
  return minimise_in_box(loss, std::move(weights), low, high, steepness, evaluations).x;
}

}  // namespace bochner
