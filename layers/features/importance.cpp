#include <algorithm>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/layers/features/weights.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Returns argmin of a unimodal function on [low, high] by golden-section search.
double golden_section_minimum(double low, double high, const std::function<double(double)>& f) {
  constexpr double ratio = 0.6180339887498949;
  for (std::size_t i = 0; i < 18; ++i) {
    const double left = high - ratio * (high - low), right = low + ratio * (high - low);
    if (f(left) <= f(right)) {
      high = right;
    } else {
      low = left;
    }
  }
  return (low + high) / 2;
}

/// A query and a key; `weight` is 1 / (sum of the query's kernels)^2, as in attention.
struct SampledPair {
  std::vector<double> q, k;
  double weight;
  std::size_t head;
};

/// Returns all pairs of the first rows of each head, (n, H, d).
std::vector<SampledPair> sampled_pairs(const FeatureMap& map, const Tensor& q, const Tensor& k) {
  constexpr std::size_t rows = 64;
  std::vector<SampledPair> pairs;
  for (std::size_t h = 0; h < q.shape()[1]; ++h) {
    for (std::size_t i = 0; i < std::min(rows, q.shape()[0]); ++i) {
      const std::size_t first = pairs.size();
      double sum = 0;
      for (std::size_t j = 0; j < std::min(rows, k.shape()[0]); ++j) {
        pairs.push_back({sample_of(q, i, h), sample_of(k, j, h), 0, h});
        sum += map.kernel(pairs.back().q, pairs.back().k, h).value_or(1);
      }
      for (std::size_t p = first; p < pairs.size(); ++p) pairs[p].weight = 1 / (sum * sum);
    }
  }
  return pairs;
}

}  // namespace

ImportanceWeights::ImportanceWeights(std::unique_ptr<FeatureMap> base, const FeatureSpec& spec)
    : WeightedMap(std::move(base)), m_(spec.m), frequencies_(frequencies()) {
  require(frequencies_ != nullptr && frequencies_->proposal() != nullptr, spec.kind.c_str(),
          "weights = \"importance\" requires a map with frequencies");
}

WeightedMap::LogWeights ImportanceWeights::log_weights_of(Tape& tape, const Var&) {
  return {frequencies_->log_ratio(tape) * 0.5, {}};
}

std::optional<double> ImportanceWeights::variance(Point q, Point k, std::size_t head) const {
  const auto kernel = map().kernel(q, k, head);
  const auto proposed = proposal().gaussian(head);
  if (!kernel || !proposed) return {};
  const std::vector<double> zero(q.size());
  const auto second = map().second_moment(q, k, importance_moment({zero, zero}, *proposed));
  if (!second) return {};
  return (*second - *kernel * *kernel) / double(m_);
}

double ImportanceWeights::effective_size(std::size_t head) {
  Tape tape({.recording = false});
  const Tensor log_ratio = frequencies_->log_ratio(tape).value();
  const real* first = log_ratio.data() + head * m_;
  return effective_sample_size({first, first + m_});
}

void ImportanceWeights::calibrate(const Tensor& q, const Tensor& k) {
  WeightedMap::calibrate(q, k);
  const std::vector<SampledPair> pairs = sampled_pairs(map(), q, k);
  std::vector<GaussianAxes> targets;
  for (std::size_t h = 0; h < q.shape()[1]; ++h) {
    const auto target = frequencies_->density()->gaussian(h);
    if (!target || !proposal().gaussian(h)) return;
    targets.push_back(*target);
  }
  if (pairs.empty() || !map().second_moment(pairs[0].q, pairs[0].k, normal_moment)) return;
  const auto widened_log_scale = [&](std::size_t head, double log_factor) {
    std::vector<double> log_scale = targets[head].log_scale;
    for (double& each : log_scale) each += log_factor;
    return log_scale;
  };
  const double log_factor = golden_section_minimum(-0.3, 1.5, [&](double log_factor) {
    std::vector<WeightedMoment> moments;
    for (std::size_t h = 0; h < targets.size(); ++h)
      moments.push_back(
          importance_moment(targets[h], {targets[h].mean, widened_log_scale(h, log_factor)}));
    double sum = 0;
    for (const SampledPair& pair : pairs)
      sum += pair.weight * *map().second_moment(pair.q, pair.k, moments[pair.head]);
    return sum;
  });
  std::vector<double> log_scales;
  for (std::size_t h = 0; h < targets.size(); ++h)
    for (double log_scale : widened_log_scale(h, log_factor)) log_scales.push_back(log_scale);
  proposal().init_head_log_scales(log_scales);
}

}  // namespace bochner::inline BOCHNER_PRECISION
