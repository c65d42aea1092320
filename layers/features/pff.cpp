#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/features/box_weights.hpp>
#include <bochner/layers/features/pff.hpp>
#include <bochner/layers/features/random_features.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Weights below e^-60 of the mean are left at that: their features are gone, yet finite.
constexpr double lowest_log_weight = -60;

/// ln sqrt(m xi_i) of the optimal weights of one head's frequencies (m, d).
void store_log_weights(const real* frequencies, std::size_t m, std::size_t d, double box,
                       real* to) {
  const std::vector<double> w(frequencies, frequencies + m * d);
  const std::vector<double> weights = box_weights(w, m, d, box / std::sqrt(double(d)));
  double total = 0;
  for (double weight : weights) total += weight;
  for (std::size_t i = 0; i < m; ++i) {
    const double relative = double(m) * weights[i] / total;
    to[i] = real(std::max(lowest_log_weight, std::log(relative) / 2));
  }
}

/// phi(x) = exp(w_i . y - |y|^2) / sqrt(m), y = x / d^(1/4): exp(-|y - y'|^2 / 2) for w ~ N(0, I),
/// of uniform direction and chi_d radius; F = m.
Features pff(const Var& x, const Var& w) { return exponential(x, w, 1); }

double pff_variance(const ScaledPair& pair) {
  return positive_variance(pair) * std::exp(-pair.xx - pair.yy);
}

}  // namespace

void add_pff(FeatureMaps& all) {
  add_estimator(all, "pff", {pff, &ScaledPair::gaussian, pff_variance, true});
  all.add("wpff", make<WeightedFeatures>);
  all.add("wpff_fixed", make<FixedWeightFeatures>);
}

WeightedFeatures::WeightedFeatures(const FeatureSpec& spec)
    : frequencies_(spec),
      hidden_({spec.heads, spec.hidden, spec.dim},
              Initial::normal(std::pow(double(spec.dim), -0.25))),
      hidden_bias_({spec.heads, spec.hidden}),
      output_({spec.heads, spec.m, spec.hidden}),
      output_bias_({spec.heads, spec.m}) {}

/// ln lambda without its last bias.
Var WeightedFeatures::network(Tape& tape, const Var& x) {
  const Var hidden = gelu(project_heads(softmax_scaled(x), tape(hidden_)) + tape(hidden_bias_));
  return project_heads(hidden, tape(output_));
}

Var WeightedFeatures::log_weights(Tape& tape, const Var& x) {
  return network(tape, x) + tape(output_bias_);
}

Features WeightedFeatures::features(Tape& tape, const Var& x) {
  return from_logarithms(exponents(x, frequencies_.draws(tape), 1, tape(output_bias_)) +
                         network(tape, x));
}

void WeightedFeatures::visit(Visitor& visitor) {
  frequencies_.visit(visitor);
  visitor("hidden", hidden_);
  visitor("hidden_bias", hidden_bias_);
  visitor("output", output_);
  visitor("output_bias", output_bias_);
}

FixedWeightFeatures::FixedWeightFeatures(const FeatureSpec& spec)
    : d_(spec.dim),
      box_(spec.box),
      refit_(spec.refit),
      frequencies_(spec),
      log_weight_(zeros({spec.heads, spec.m})) {
  require(spec.density.redraw == 0, "wpff_fixed",
          "its weights are those of one set of frequencies: redraw must be 0, not ",
          spec.density.redraw);
}

void FixedWeightFeatures::initialized() {
  Tape tape;
  tape.recording = false;
  fit(frequencies_.draws(tape).value());
}

void FixedWeightFeatures::calibrate(const Tensor&, const Tensor&) { initialized(); }

/// Once for equal frequencies: the keys of a pass see what its queries saw.
void FixedWeightFeatures::fit(const Tensor& frequencies) {
  if (frequencies == fitted_) return;
  const std::size_t m = frequencies.shape()[1];
  for (std::size_t h = 0; h < frequencies.shape()[0]; ++h)
    store_log_weights(frequencies.data() + h * m * d_, m, d_, box_, log_weight_.data() + h * m);
  fitted_ = frequencies;
}

Features FixedWeightFeatures::features(Tape& tape, const Var& x) {
  const Var w = frequencies_.draws(tape);
  if (tape.training && refit_ > 0 && tape.step > 0 && tape.step % refit_ == 0) fit(w.value());
  return exponential(x, w, 1, tape.view(log_weight_));
}

void FixedWeightFeatures::visit(Visitor& visitor) {
  frequencies_.visit(visitor);
  visitor("log_weight", log_weight_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
