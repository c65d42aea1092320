#include <algorithm>
#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/features/exponents.hpp>
#include <bochner/layers/features/hybrid.hpp>
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

}  // namespace

Features HybridFeatures::side(Tape& tape, const Var& x, Side side, std::size_t) {
  const Var w = frequencies_.draws(tape);
  Var first = exp(exponents(x, both_signs(w), 0.5)), second = trigonometric_features(x, w);
  if (!lambda_on_hyperbolic()) std::swap(first, second);
  const Var xi = lambda_features(tape, softmax_scaled(x), side);
  const Var with_first = pad(xi, -1, 0, 1, real(std::sqrt(constant())));
  const Var with_second =
      pad(side == Side::query ? -xi : xi, -1, 0, 1, real(std::sqrt(1 - constant())));
  const Shape groups{x.dim(0), x.dim(1), x.dim(2), 2, xi.dim(-1) + 1};
  return product_features(reshape(concat({with_first, with_second}, -1), groups),
                          concat({first, second}, -1));
}

std::optional<double> HybridFeatures::kernel(Point q, Point k, std::size_t) const {
  return ScaledPair(q, k).softmax();
}

/// E lambda^2 Var_1 + E (1 - lambda)^2 Var_2 + 2 E lambda (1 - lambda) Cov: both estimators share
/// w, and lambda's draws are independent of it.
std::optional<double> HybridFeatures::variance(Point q, Point k, std::size_t head) const {
  const ScaledPair pair(q, k);
  const auto lambda = lambda_of(pair, head);
  if (!lambda) return {};
  double first = hyperbolic_variance(pair), second = trigonometric_variance(pair);
  if (!lambda_on_hyperbolic()) std::swap(first, second);
  const double rest = 1 - 2 * lambda->mean + lambda->square;
  return (lambda->square * first + rest * second +
          2 * (lambda->mean - lambda->square) * covariance_with_trigonometric(pair)) /
         double(m_);
}

AngularHybrid::AngularHybrid(const FeatureSpec& spec)
    : HybridFeatures(spec),
      n_(spec.lambda),
      smooth_(spec.smooth),
      directions_(lambda_draws(spec)),
      smooth_directions_(directions_) {}

Var AngularHybrid::lambda_features(Tape& tape, const Var& y, Side side) {
  const double scale = (side == Side::query ? -1 : 1) / std::sqrt(2 * double(n_));
  if (smooth_) return tanh(project_heads(y, tape(smooth_directions_))) * scale;
  return signs_of(project_heads(y.value(), directions_)) * scale;
}

/// With t = angle / pi: mean t, variance t (1 - t) / n.
std::optional<HybridFeatures::LambdaMoments> AngularHybrid::lambda_of(const ScaledPair& pair,
                                                                      std::size_t) const {
  if (smooth_) return {};
  const double cosine = pair.xy / std::sqrt(pair.xx * pair.yy);
  const double t = std::acos(std::clamp(cosine, -1.0, 1.0)) / std::numbers::pi;
  return LambdaMoments{t, t * t + t * (1 - t) / double(n_)};
}

void AngularHybrid::visit(Visitor& visitor) {
  HybridFeatures::visit(visitor);
  if (smooth_) {
    visitor("directions", smooth_directions_);
  } else {
    visitor("directions", directions_);
  }
}

GaussianHybrid::GaussianHybrid(const FeatureSpec& spec)
    : HybridFeatures(spec), n_(spec.lambda), noise_(lambda_draws(spec)) {
  require(spec.tau > 0, spec.kind.c_str(), "tau = ", spec.tau, ": must be above 0");
  log_tau_.assign(filled({spec.heads, 1, 1}, real(std::log(spec.tau))));
}

Var GaussianHybrid::lambda_features(Tape& tape, const Var& y, Side) {
  return fourier_features(y, tape.view(noise_) * exp(-tape(log_tau_)));
}

std::optional<HybridFeatures::LambdaMoments> GaussianHybrid::lambda_of(const ScaledPair& pair,
                                                                       std::size_t head) const {
  const double exponent = pair.difference() * std::exp(-2 * double(log_tau_.value().data()[head]));
  const double mean = std::exp(-exponent / 2);
  return LambdaMoments{mean, mean * mean + std::pow(-std::expm1(-exponent), 2) / (2 * double(n_))};
}

void GaussianHybrid::visit(Visitor& visitor) {
  HybridFeatures::visit(visitor);
  visitor("lambda_noise", noise_);
  visitor("log_tau", log_tau_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
