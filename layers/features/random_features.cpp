#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/features/frequencies.hpp>
#include <bochner/layers/features/weights.hpp>
#include <cmath>
#include <limits>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Kernel estimator: a mean over m draws, equal for queries and keys.
struct Estimator {
  /// Computes features. (.., H, d), (H, m, d) -> (.., H, F)
  Features (*features)(const Var& x, const Var& w);
  double (ScaledPair::*kernel)() const;
  double (*variance)(const ScaledPair& pair);  ///< of one draw
  bool positive;
  double (*second_moment)(const ScaledPair& pair, const WeightedMoment& moment);
  bool even = false;
};

class EstimatorFeatures : public FeatureMap {
 public:
  EstimatorFeatures(const FeatureSpec& spec, const Estimator& estimator)
      : estimator_(estimator), m_(spec.m), frequencies_(spec) {}
  Features features(Tape& tape, const Var& x) override {
    return estimator_.features(x, frequencies_.draws(tape));
  }
  bool positive() const override { return estimator_.positive; }
  std::optional<double> kernel(Point q, Point k, std::size_t) const override {
    return (ScaledPair(q, k).*estimator_.kernel)();
  }
  std::optional<double> variance(Point q, Point k, std::size_t) const override {
    return estimator_.variance(ScaledPair(q, k)) / double(m_);
  }
  std::optional<double> second_moment(Point q, Point k,
                                      const WeightedMoment& moment) const override {
    return estimator_.second_moment(ScaledPair(q, k), moment);
  }
  Frequencies* frequencies() override { return &frequencies_; }
  bool even() const override { return estimator_.even; }
  void visit(Visitor& visitor) override { frequencies_.visit(visitor); }

 private:
  Estimator estimator_;
  std::size_t m_;
  Frequencies frequencies_;
};

/// Makes the map of an estimator and a set of frequencies.
FeatureMaps::Factory feature_map_of(const Estimator& estimator) {
  return [estimator](const FeatureSpec& spec) {
    return std::make_unique<EstimatorFeatures>(spec, estimator);
  };
}

void add_estimator(FeatureMaps& all, const char* name, const Estimator& estimator) {
  all.add(name, feature_map_of(estimator), {.exponential = estimator.positive});
}

/// exp(w_i . y - |y|^2 / 2) / sqrt(m); F = m. Choromanski et al., "Performers", 2021.
Features positive_features(const Var& x, const Var& w) { return exponential(x, w, 0.5); }

/// Computes phi(x) = [exp(w_i . y - |y|^2 / 2), exp(-w_i . y - |y|^2 / 2)] / sqrt(2m); F = 2m;
/// exact at y' = -y. Choromanski et al., 2021 (SM++).
Features hyperbolic_features(const Var& x, const Var& w) {
  return exponential(x, both_signs(w), 0.5);
}

/// Computes phi(x) = exp(|y|^2 / 2) [cos(w_i . y), sin(w_i . y)] / sqrt(m); F = 2m; signed; exact
/// at x' = x. Rahimi and Recht, "Random features", 2007.
Features signed_features(const Var& x, const Var& w) { return trigonometric_features(x, w); }

/// Computes phi(x) = exp(w_i . y - |y|^2) / sqrt(m), y = x / d^(1/4), F = m, for the kernel exp(-|y
/// - y'|^2 / 2): w ~ N(0, I) has uniform direction and chi_d radius. Chen et al., "DiJiang", 2024.
Features pff(const Var& x, const Var& w) { return exponential(x, w, 1); }

double pff_variance(const ScaledPair& pair) {
  return positive_variance(pair) * std::exp(-pair.xx - pair.yy);
}

/// Computes phi(x) = [cos(w_i . y), sin(w_i . y)] / sqrt(m) for k = E cos(w . (y - y')) of any
/// density; F = 2m; signed; exact at x' = x. Rahimi and Recht, "Random features", 2007.
Features stationary_features(const Var& x, const Var& w) {
  return fourier_features(softmax_scaled(x), w);
}

FeatureSpec partner_of(FeatureSpec spec) {
  spec.weights = "none";
  spec.density.seed += stream_of("partner");
  return spec;
}

/// phi(x) = [cos(w_i . y) + cos(v_i . y), sin(w_i . y) + sin(v_i . y)] / (2 sqrt(m)), v = rho w +
/// sqrt(1 - rho^2) u for independent w and u of two learned densities and a learned correlation rho
/// = cos(angle) per head: a spectral density over pairs (w, v), stationary for rho = 1. Positive
/// definite by construction; F = 2m; signed. Samo and Roberts, "Generalized spectral kernels",
/// 2015; Ton et al., "Spatial mapping with nonstationary features", 2018.
class NonstationaryFeatures : public FeatureMap {
 public:
  explicit NonstationaryFeatures(const FeatureSpec& spec)
      : m_(spec.m),
        frequencies_(spec),
        partner_(partner_of(spec)),
        angle_(filled({spec.heads, 1, 1}, real(std::acos(spec.correlation)))) {
    require(std::abs(spec.correlation) <= 1, "nonstationary", "correlation = ", spec.correlation,
            " must be between -1 and 1");
  }

  Features features(Tape& tape, const Var& x) override {
    const Var y = softmax_scaled(x), angle = tape(angle_), w = frequencies_.draws(tape);
    const Var v = cos(angle) * w + sin(angle) * partner_.draws(tape);
    return (fourier_features(y, w) + fourier_features(y, v)) * 0.5;
  }
  Frequencies* frequencies() override { return &frequencies_; }
  bool even() const override { return true; }
  std::optional<double> kernel(Point q, Point k, std::size_t head) const override {
    return nonstationary_kernel(ScaledPair(q, k), correlation(head));
  }
  std::optional<double> variance(Point q, Point k, std::size_t head) const override {
    return nonstationary_variance(ScaledPair(q, k), correlation(head)) / double(m_);
  }
  void visit(Visitor& visitor) override {
    frequencies_.visit(visitor);
    visitor("partner", partner_);
    visitor("angle", angle_);
  }

 private:
  double correlation(std::size_t head) const {
    return std::cos(double(angle_.value().data()[head]));
  }

  std::size_t m_;
  Frequencies frequencies_, partner_;
  Parameter angle_;  // (H, 1, 1)
};

}  // namespace

void add_random_features(FeatureMaps& all) {
  constexpr auto softmax = &ScaledPair::softmax;
  add_estimator(all, "positive",
                {positive_features, softmax, positive_variance, true, positive_second_moment});
  add_estimator(
      all, "hyperbolic",
      {hyperbolic_features, softmax, hyperbolic_variance, true, hyperbolic_second_moment, true});
  add_estimator(
      all, "trigonometric",
      {signed_features, softmax, trigonometric_variance, false, trigonometric_second_moment, true});
}

Var both_signs(const Var& w) { return concat({w, -w}, 1); }

Var fourier_features(const Var& y, const Var& w) {
  const Var angles = project_heads(y, w);
  return concat({cos(angles), sin(angles)}, -1) * (1 / std::sqrt(double(w.dim(1))));
}

double max_trigonometric_exponent() {
  constexpr double room = 8;
  return std::log(double(std::numeric_limits<real>::max())) / 2 - room;
}

Var trigonometric_features(const Var& x, const Var& w) {
  const Var y = softmax_scaled(x), exponents = 0.5 * sum(square(y), -1, keep);
  return fourier_features(y, w) * exp(clamp(exponents, 0, real(max_trigonometric_exponent())));
}

void add_pff(FeatureMaps& all) {
  const Estimator estimator{pff, &ScaledPair::gaussian, pff_variance, true, pff_second_moment};
  add_estimator(all, "pff", estimator);
  for (const auto& [name, weights] : {std::pair{"wpff", "learned"}, {"wpff_fixed", "fixed"}}) {
    const FeatureMaps::Factory weighted = [plain = feature_map_of(estimator),
                                           weights = weights](FeatureSpec spec) {
      spec.weights = weights;
      return weighted_map(plain(spec), spec);
    };
    all.add(name, weighted, {.exponential = true});
  }
}

void add_stationary(FeatureMaps& all) {
  add_estimator(all, "fourier",
                {stationary_features, &ScaledPair::gaussian, fourier_variance, false,
                 fourier_second_moment, true});
  all.add("nonstationary", make<NonstationaryFeatures>);
}

}  // namespace bochner::inline BOCHNER_PRECISION
