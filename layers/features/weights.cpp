#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/features/box_weights.hpp>
#include <bochner/layers/features/weights.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Lower bound of log weights: features below e^-60 of the mean vanish but stay finite.
constexpr double min_log_weight = -60;
/// Added to sums of rectified features, which may all be 0 and then stay 0.
constexpr double min_sum = 1e-15;

/// Stores ln sqrt(m xi_i) of the optimal weights of one head's frequencies (m, d).
void store_log_weights(const real* frequencies, std::size_t m, std::size_t d, double box, bool even,
                       real* to) {
  const std::vector<double> w(frequencies, frequencies + m * d);
  const std::vector<double> weights = box_weights(w, m, d, box / std::sqrt(double(d)), even);
  double total = 0;
  for (double weight : weights) total += weight;
  for (std::size_t i = 0; i < m; ++i) {
    const double relative = double(m) * weights[i] / total;
    to[i] = real(std::max(min_log_weight, std::log(relative) / 2));
  }
}

/// Returns x[.., f mod n] for f < F. (.., n) -> (.., F)
Var repeated(const Var& x, std::size_t F) {
  const std::size_t n = x.dim(-1);
  require(F % n == 0, "weights", n, " weights for ", F, " features");
  return n == F ? x : concat(std::vector<Var>(F / n, x), -1);
}

/// Multiplies features by exp(constant + by_token), either of which may not exist.
Features apply_weights(Features features, const Var& constant, const Var& by_token) {
  if (features.are_products())
    return product_features(features.coefficients,
                            apply_weights(features.base(), constant, by_token));
  const std::size_t F = features.shape().back();
  if (features.are_exponential() && constant.exists()) {
    const Var offset = repeated(constant, F);
    features.offset = features.offset.exists() ? features.offset + offset : offset;
    return apply_weights(std::move(features), {}, by_token);
  }
  if (!constant.exists() && !by_token.exists()) return features;
  const Var log_weight = !constant.exists()   ? by_token
                         : !by_token.exists() ? constant
                                              : by_token + constant;
  if (features.scale == FeatureScale::logarithmic)
    return from_logarithms(features.values() + repeated(log_weight, F));
  return features.tokens * repeated(exp(log_weight), F);
}

/// Returns the number of frequencies, or of features if the map has no frequencies.
std::size_t count_weights(FeatureMap& map, const FeatureSpec& spec) {
  if (map.frequencies()) return spec.m;
  Tape tape({.recording = false});
  return map.features(tape, zeros({1, 1, spec.heads, spec.dim})).base().shape().back();
}

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

Features WeightedMap::weighted(Tape& tape, const Var& x, Features features) {
  const auto [constant, by_token] = log_weights_of(tape, x);
  return apply_weights(std::move(features), constant, by_token);
}

NormalizedWeights::NormalizedWeights(std::unique_ptr<FeatureMap> base, const FeatureSpec& spec)
    : WeightedMap(std::move(base)) {
  require(positive(), spec.kind.c_str(), "weights = \"normalized\" requires positive features");
}

Features NormalizedWeights::weighted(Tape&, const Var&, Features features) {
  const double F = double(features.shape().back());
  if (features.scale == FeatureScale::logarithmic)
    return from_logarithms(log_softmax(features.values()) + 0.5 * std::log(F));
  const Var values = features.values();
  return std::sqrt(F) * values / (sum(values, -1, keep) + min_sum);
}

LearnedWeights::LearnedWeights(std::unique_ptr<FeatureMap> base, const FeatureSpec& spec)
    : WeightedMap(std::move(base)),
      hidden_({spec.heads, spec.hidden, spec.dim},
              Initial::normal(std::pow(double(spec.dim), -0.25))),
      hidden_bias_({spec.heads, spec.hidden}),
      output_({spec.heads, count_weights(map(), spec), spec.hidden}),
      output_bias_({spec.heads, output_.shape()[1]}) {}

WeightedMap::LogWeights LearnedWeights::log_weights_of(Tape& tape, const Var& x) {
  const Var hidden = gelu(project_heads(softmax_scaled(x), tape(hidden_)) + tape(hidden_bias_));
  return {tape(output_bias_), project_heads(hidden, tape(output_))};
}

Var LearnedWeights::log_weights(Tape& tape, const Var& x) {
  const auto [constant, by_token] = log_weights_of(tape, x);
  return by_token + constant;
}

void LearnedWeights::visit(Visitor& visitor) {
  WeightedMap::visit(visitor);
  visitor("hidden", hidden_);
  visitor("hidden_bias", hidden_bias_);
  visitor("output", output_);
  visitor("output_bias", output_bias_);
}

FixedWeights::FixedWeights(std::unique_ptr<FeatureMap> base, const FeatureSpec& spec)
    : WeightedMap(std::move(base)),
      box_(spec.box),
      refit_(spec.refit),
      log_weight_(zeros({spec.heads, spec.m})) {
  require(frequencies() != nullptr, spec.kind.c_str(),
          "weights = \"fixed\" requires a map with frequencies");
  require(spec.density.redraw == 0, spec.kind.c_str(),
          "fixed weights belong to one set of frequencies: redraw must be 0, not ",
          spec.density.redraw);
}

/// Fits once per set of frequencies, so that keys and queries of a pass share weights.
void FixedWeights::fit() {
  Tape tape({.recording = false});
  const Tensor w = frequencies()->draws(tape).value();
  if (w == fitted_frequencies_) return;
  const std::size_t m = w.shape()[1], d = w.shape()[2];
  for (std::size_t h = 0; h < w.shape()[0]; ++h)
    store_log_weights(w.data() + h * m * d, m, d, box_, even(), log_weight_.data() + h * m);
  fitted_frequencies_ = w;
}

WeightedMap::LogWeights FixedWeights::log_weights_of(Tape& tape, const Var&) {
  if (tape.training && refit_ > 0 && tape.step > 0 && tape.step % refit_ == 0) fit();
  return {tape.view(log_weight_), {}};
}

std::unique_ptr<FeatureMap> weighted_map(std::unique_ptr<FeatureMap> map, const FeatureSpec& spec) {
  if (spec.weights == "none") return map;
  require(dynamic_cast<WeightedMap*>(map.get()) == nullptr, spec.kind.c_str(),
          "the map has weights already: weights must be \"none\", not \"", spec.weights, "\"");
  if (spec.weights == "learned") return std::make_unique<LearnedWeights>(std::move(map), spec);
  if (spec.weights == "normalized")
    return std::make_unique<NormalizedWeights>(std::move(map), spec);
  if (spec.weights == "fixed") return std::make_unique<FixedWeights>(std::move(map), spec);
  return std::make_unique<ImportanceWeights>(std::move(map), spec);
}

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
