#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/features/frequencies.hpp>
#include <bochner/layers/features/random_features.hpp>
#include <cmath>

/// Stationary kernels by Bochner's theorem, and their nonstationary generalization.

namespace bochner::inline BOCHNER_PRECISION {
namespace {

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

void add_stationary(FeatureMaps& all) {
  add_estimator(all, "fourier",
                {stationary_features, &ScaledPair::gaussian, fourier_variance, false,
                 fourier_second_moment, true});
  all.add("nonstationary", make<NonstationaryFeatures>);
}

}  // namespace bochner::inline BOCHNER_PRECISION
