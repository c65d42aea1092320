#include <algorithm>
#include <bochner/train/run/sampling.hpp>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Probabilities of `order`'s tokens, up to a common factor; the first is the largest.
std::vector<double> weights_of(const Tensor& logits, const std::vector<std::int32_t>& order,
                               double temperature) {
  std::vector<double> weights;
  const double top = logits.data()[order[0]];
  for (std::int32_t token : order)
    weights.push_back(std::exp((double(logits.data()[token]) - top) / temperature));
  return weights;
}

/// How many of the first weights reach `part` of the total.
std::size_t nucleus(const std::vector<double>& weights, double part) {
  const double wanted = part * std::accumulate(weights.begin(), weights.end(), 0.0);
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    sum += weights[i];
    if (sum >= wanted) return i + 1;
  }
  return weights.size();
}

}  // namespace

void check_sampling(const SamplingOptions& options) {
  require(std::isfinite(options.temperature) && options.temperature >= 0, "sample",
          "temperature = ", options.temperature, ": must be at least 0");
  require(options.top_p > 0 && options.top_p <= 1, "sample", "top-p = ", options.top_p,
          ": must be greater than 0 and at most 1");
}

std::int32_t sample_token(const Tensor& logits, const SamplingOptions& options, double u) {
  require(logits.size() > 0, "sample", "no logits");
  check_sampling(options);
  std::vector<std::int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater(), [&](auto token) { return logits.data()[token]; });
  if (options.temperature == 0) return order[0];
  if (options.top_k > 0 && options.top_k < order.size()) order.resize(options.top_k);
  std::vector<double> weights = weights_of(logits, order, options.temperature);
  weights.resize(nucleus(weights, options.top_p));
  double rest = u * std::accumulate(weights.begin(), weights.end(), 0.0);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (rest < weights[i]) return order[i];
    rest -= weights[i];
  }
  return order[weights.size() - 1];
}

}  // namespace bochner::inline BOCHNER_PRECISION
