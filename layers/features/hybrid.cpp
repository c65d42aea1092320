#include <algorithm>
#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/features/frequencies.hpp>
#include <bochner/layers/features/random_features.hpp>
#include <bochner/layers/spectral/base_draws.hpp>
#include <cmath>
#include <numbers>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

Tensor lambda_draws(const FeatureSpec& spec) {
  require(spec.lambda > 0, spec.kind.c_str(), "lambda = 0: must be at least 1");
  return base_draws("iid", spec.heads, spec.lambda, spec.dim, 0,
                    {spec.density.seed, Purpose::spectral, stream_of("lambda")});
}

/// 1 or -1, a constant to the tape.
Var signs_of(const Var& x) {
  Tensor signs = x.value();
  for (real& e : signs) e = e < 0 ? real(-1) : real(1);
  return Var(std::move(signs));
}

/// Hybrid random features: lambda SM_1 + (1 - lambda) SM_2 of two estimators of the softmax kernel,
/// lambda(x, y) = a + <xi(x), eta(y)> estimated by draws of its own, so that the whole is an inner
/// product of features: all products of (xi, sqrt(a)) with phi_1 and of (xi, sqrt(1 - a)) with
/// phi_2, that second xi negative for queries. Signed. Choromanski et al., "Hybrid random
/// features", 2022.
class HybridFeatures : public TwoSidedMap {
 public:
  /// Whether lambda multiplies the hyperbolic estimator and 1 - lambda the trigonometric one, or
  /// the other way round; and a.
  HybridFeatures(const FeatureSpec& spec, bool lambda_on_hyperbolic, double constant)
      : m_(spec.m),
        lambda_on_hyperbolic_(lambda_on_hyperbolic),
        constant_(constant),
        frequencies_(spec) {}

  Frequencies* frequencies() override { return &frequencies_; }
  bool even() const override { return true; }
  std::optional<double> kernel(Point q, Point k, std::size_t) const override {
    return ScaledPair(q, k).softmax();
  }

  /// E lambda^2 Var_1 + E (1 - lambda)^2 Var_2 + 2 E lambda (1 - lambda) Cov: both estimators share
  /// w, and lambda's draws are independent of it.
  std::optional<double> variance(Point q, Point k, std::size_t head) const override {
    const ScaledPair pair(q, k);
    const auto lambda = lambda_of(pair, head);
    if (!lambda) return {};
    double first = hyperbolic_variance(pair), second = trigonometric_variance(pair);
    if (!lambda_on_hyperbolic_) std::swap(first, second);
    const double rest = 1 - 2 * lambda->mean + lambda->square;
    return (lambda->square * first + rest * second +
            2 * (lambda->mean - lambda->square) * covariance_with_trigonometric(pair)) /
           double(m_);
  }

  void visit(Visitor& visitor) override { frequencies_.visit(visitor); }

 protected:
  /// E lambda, E lambda^2 of a pair.
  struct LambdaMoments {
    double mean, square;
  };
  virtual std::optional<LambdaMoments> lambda_of(const ScaledPair& pair,
                                                 std::size_t head) const = 0;
  /// xi, or eta with its sign, of y. (.., H, d) -> (.., H, n)
  virtual Var lambda_features(Tape& tape, const Var& y, Side side) = 0;

  Features side(Tape& tape, const Var& x, Side side, std::size_t) override {
    const Var w = frequencies_.draws(tape);
    Var first = exp(exponents(x, both_signs(w), 0.5)), second = trigonometric_features(x, w);
    if (!lambda_on_hyperbolic_) std::swap(first, second);
    const Var xi = lambda_features(tape, softmax_scaled(x), side);
    const Var with_first = pad(xi, -1, 0, 1, real(std::sqrt(constant_)));
    const Var with_second =
        pad(side == Side::query ? -xi : xi, -1, 0, 1, real(std::sqrt(1 - constant_)));
    const Shape groups{x.dim(0), x.dim(1), x.dim(2), 2, xi.dim(-1) + 1};
    return product_features(reshape(concat({with_first, with_second}, -1), groups),
                            concat({first, second}, -1));
  }

 private:
  std::size_t m_;
  bool lambda_on_hyperbolic_;
  double constant_;
  Frequencies frequencies_;
};

/// lambda = angle / pi, estimated by the signs of n projections: hyperbolic features for opposite
/// vectors, trigonometric ones for parallel vectors; exact at angles 0 and pi for equal lengths. F
/// = 4 m (n + 1). With `smooth`, tanh of learned projections in place of the signs, which pass no
/// gradient.
class AngularHybrid : public HybridFeatures {
 public:
  explicit AngularHybrid(const FeatureSpec& spec)
      : HybridFeatures(spec, true, 0.5),
        n_(spec.lambda),
        smooth_(spec.smooth),
        directions_(lambda_draws(spec)) {}

  void visit(Visitor& visitor) override {
    HybridFeatures::visit(visitor);
    if (smooth_) {
      visitor("directions", directions_);
    } else {
      visitor("directions", directions_.value());
    }
  }

 protected:
  /// With t = angle / pi: mean t, variance t (1 - t) / n.
  std::optional<LambdaMoments> lambda_of(const ScaledPair& pair, std::size_t) const override {
    if (smooth_) return {};
    const double cosine = pair.xy / std::sqrt(pair.xx * pair.yy);
    const double t = std::acos(std::clamp(cosine, -1.0, 1.0)) / std::numbers::pi;
    return LambdaMoments{t, t * t + t * (1 - t) / double(n_)};
  }

  Var lambda_features(Tape& tape, const Var& y, Side side) override {
    const double scale = (side == Side::query ? -1 : 1) / std::sqrt(2 * double(n_));
    if (smooth_) return tanh(project_heads(y, tape(directions_))) * scale;
    return signs_of(project_heads(y.value(), directions_.value())) * scale;
  }

 private:
  std::size_t n_;
  bool smooth_;
  Parameter directions_;  // (H, n, d); a buffer without `smooth`
};

/// lambda = exp(-|y - y'|^2 / (2 tau^2)), one learned tau per head, by n trigonometric draws:
/// trigonometric features for near vectors, hyperbolic ones for others.
/// F = 4 m (2 n + 1), of which 2 m are zero.
class GaussianHybrid : public HybridFeatures {
 public:
  explicit GaussianHybrid(const FeatureSpec& spec)
      : HybridFeatures(spec, false, 0), n_(spec.lambda), noise_(lambda_draws(spec)) {
    require(spec.tau > 0, spec.kind.c_str(), "tau = ", spec.tau, ": must be above 0");
    log_tau_.assign(filled({spec.heads, 1, 1}, real(std::log(spec.tau))));
  }

  void visit(Visitor& visitor) override {
    HybridFeatures::visit(visitor);
    visitor("lambda_noise", noise_);
    visitor("log_tau", log_tau_);
  }

 protected:
  std::optional<LambdaMoments> lambda_of(const ScaledPair& pair, std::size_t head) const override {
    const double exponent =
        pair.difference() * std::exp(-2 * double(log_tau_.value().data()[head]));
    const double mean = std::exp(-exponent / 2);
    return LambdaMoments{mean,
                         mean * mean + std::pow(-std::expm1(-exponent), 2) / (2 * double(n_))};
  }

  Var lambda_features(Tape& tape, const Var& y, Side) override {
    return fourier_features(y, tape.view(noise_) * exp(-tape(log_tau_)));
  }

 private:
  std::size_t n_;
  Tensor noise_;       // (H, n, d)
  Parameter log_tau_;  // (H, 1, 1)
};

}  // namespace

void add_hybrids(FeatureMaps& all) {
  all.add("hybrid_angular", make<AngularHybrid>);
  all.add("hybrid_gaussian", make<GaussianHybrid>);
}

}  // namespace bochner::inline BOCHNER_PRECISION
