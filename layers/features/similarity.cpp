#include <algorithm>
#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/features/random_features.hpp>
#include <bochner/layers/features/similarity.hpp>
#include <bochner/layers/spectral/base_draws.hpp>
#include <cmath>
#include <numbers>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

Tensor lambda_draws(const FeatureSpec& spec) {
  return base_draws("iid", spec.heads, spec.lambda, spec.dim, 0,
                    {spec.density.seed, Purpose::spectral, stream_of("lambda")});
}

/// Returns 1 or -1 as constants.
Var signs_of(const Var& x) {
  Tensor signs = x.value();
  for (real& e : signs) e = e < 0 ? real(-1) : real(1);
  return Var(std::move(signs));
}

class AngularSimilarity : public Similarity {
 public:
  explicit AngularSimilarity(const FeatureSpec& spec)
      : n_(spec.lambda), smooth_(spec.smooth), directions_(lambda_draws(spec)) {}

  Var features(Tape& tape, const Var& y) override {
    const double scale = 1 / std::sqrt(2 * double(n_));
    if (smooth_) return tanh(project_heads(y, tape(directions_))) * scale;
    return signs_of(project_heads(y.value(), directions_.value())) * scale;
  }
  double constant() const override { return 0.5; }

  /// With t = angle / pi: mean 1 - t, variance t (1 - t) / n. The sign of zero is +1.
  std::optional<Moments> moments(const ScaledPair& pair, std::size_t) const override {
    if (smooth_) return {};
    const double norms = std::sqrt(pair.xx * pair.yy);
    const double cosine = norms > 0 ? pair.xy / norms : pair.xx == pair.yy ? 1 : 0;
    const double t = std::acos(std::clamp(cosine, -1.0, 1.0)) / std::numbers::pi;
    return Moments{1 - t, (1 - t) * (1 - t) + t * (1 - t) / double(n_)};
  }

  void visit(Visitor& visitor) override {
    if (smooth_) {
      visitor("directions", directions_);
    } else {
      visitor("directions", directions_.value());
    }
  }

 private:
  std::size_t n_;
  bool smooth_;
  Parameter directions_;  // (H, n, d); a buffer without `smooth`
};

class GaussianSimilarity : public Similarity {
 public:
  explicit GaussianSimilarity(const FeatureSpec& spec)
      : n_(spec.lambda), noise_(lambda_draws(spec)) {
    log_tau_.assign(filled({spec.heads, 1, 1}, real(std::log(spec.tau))));
  }

  Var features(Tape& tape, const Var& y) override {
    return fourier_features(y, tape.view(noise_) * exp(-tape(log_tau_)));
  }

  std::optional<Moments> moments(const ScaledPair& pair, std::size_t head) const override {
    const double exponent =
        pair.difference() * std::exp(-2 * double(log_tau_.value().data()[head]));
    const double mean = std::exp(-exponent / 2);
    return Moments{mean, mean * mean + std::pow(-std::expm1(-exponent), 2) / (2 * double(n_))};
  }

  void visit(Visitor& visitor) override {
    visitor("lambda_noise", noise_);
    visitor("log_tau", log_tau_);
  }

 private:
  std::size_t n_;
  Tensor noise_;       // (H, n, d)
  Parameter log_tau_;  // (H, 1, 1)
};

}  // namespace

std::unique_ptr<Similarity> angular_similarity(const FeatureSpec& spec) {
  return std::make_unique<AngularSimilarity>(spec);
}

std::unique_ptr<Similarity> gaussian_similarity(const FeatureSpec& spec) {
  return std::make_unique<GaussianSimilarity>(spec);
}

}  // namespace bochner::inline BOCHNER_PRECISION
