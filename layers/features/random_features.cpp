#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/features/frequencies.hpp>
#include <bochner/layers/features/random_features.hpp>
#include <cmath>
#include <limits>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

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

}  // namespace

FeatureMaps::Factory feature_map_of(const Estimator& estimator) {
  return [estimator](const FeatureSpec& spec) {
    return std::make_unique<EstimatorFeatures>(spec, estimator);
  };
}

void add_estimator(FeatureMaps& all, const char* name, const Estimator& estimator) {
  all.add(name, feature_map_of(estimator));
}

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

}  // namespace bochner::inline BOCHNER_PRECISION
