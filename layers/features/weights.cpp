#include <algorithm>
#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/features/box_weights.hpp>
#include <bochner/layers/features/weights.hpp>
#include <cmath>

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

}  // namespace bochner::inline BOCHNER_PRECISION
