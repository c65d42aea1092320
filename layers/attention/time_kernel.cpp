#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/attention/time_kernel.hpp>
#include <cmath>
#include <numbers>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t phases = 3;  // the fewest for which sums over phases leave cos(nu lag) alone

/// log(1 / tau) of each head, tau from shortest to longest in geometric steps.
Tensor start_rates(const TimeKernelSpec& spec, std::size_t heads) {
  Tensor rates = zeros({heads});
  for (std::size_t h = 0; h < heads; ++h) {
    const double part = heads > 1 ? double(h) / double(heads - 1) : 0;
    rates.data()[h] = real(-(1 - part) * std::log(spec.shortest) - part * std::log(spec.longest));
  }
  return rates;
}

/// Frequencies are points of a line, n of them for each head.
DensitySpec density_of(const TimeKernelSpec& spec, std::size_t heads) {
  DensitySpec density = spec.density;
  density.heads = heads;
  density.m = spec.frequencies;
  density.dim = 1;
  return density;
}

/// A function of the angle of each phase, (1, 1, 1, phases).
Tensor of_phases(double (*function)(double)) {
  Tensor y = zeros({1, 1, 1, phases});
  for (std::size_t r = 0; r < phases; ++r)
    y.data()[r] = real(function(2 * std::numbers::pi * double(r) / double(phases)));
  return y;
}

}  // namespace

TimeKernel::TimeKernel(const TimeKernelSpec& spec, std::size_t heads, std::size_t width)
    : kind_(spec.kind) {
  require(kind_ == "none" || kind_ == "decay" || rotates() || kind_ == "gate", "time_kernel",
          "no time kernel is called \"", kind_,
          "\"; there are: none, decay, rotation, spectral, gate");
  const Tensor rates = start_rates(spec, heads);
  if (kind_ == "decay" || rotates()) log_rate_.assign(rates);
  if (kind_ == "rotation") {
    log_frequency_.assign(rates + real(std::log(std::numbers::pi)));
    logit_.assign(zeros({heads}));
  }
  if (kind_ == "spectral") {
    require(spec.frequencies > 0, "time_kernel", "frequencies must be above 0");
    density_ = make_density(density_of(spec, heads));
    unit_ = xt::exp(rates) * real(std::numbers::pi);
    unit_.reshape(Shape{heads, 1, 1});
    logit_.assign(filled({heads}, real(2)));  // b = 0.88: what is learned of the density shows
  }
  if (kind_ == "gate") {
    gate_.assign(zeros({width, heads}));
    gate_bias_.assign(xt::log(xt::expm1(xt::exp(rates))));  // softplus of it is 1 / tau
  }
}

Var TimeKernel::rate(Tape& tape, const Var& x, const Layout& layout) {
  if (!active()) return Var();
  const Var rate =
      kind_ == "gate" ? softplus(affine(x, tape(gate_), tape(gate_bias_))) : exp(tape(log_rate_));
  if (layout.regular()) return rate;
  const Shape& shape = layout.gaps.shape();
  return reshape(tape.constant(layout.gaps), {shape[0], shape[1], 1}) * rate;
}

Var TimeKernel::frequencies(Tape& tape) {
  const std::size_t H = logit_.value().size();
  if (!density_) return reshape(exp(tape(log_frequency_)), {H, 1});
  const Var draws = density_->draws(tape);
  return reshape(draws * tape.view(unit_), {H, draws.dim(1)});
}

Var TimeKernel::rotation(Tape& tape) {
  if (!rotates()) return Var();
  const Var frequency = frequencies(tape), amplitude = square(sigmoid(tape(logit_))) * 0.5;
  return concat({frequency, reshape(amplitude, {frequency.dim(0), 1})}, -1);
}

/// (1 + b cos(nu t + angle)) / sqrt(phases n) for each frequency and phase: the sum of its products
/// at t and t' is 1 + b^2 / 2 times the mean of cos(nu (t - t')).
Var TimeKernel::turns(Tape& tape, const Layout& layout, std::size_t T, double first) {
  if (!rotates()) return Var();
  const Times times = times_of(layout, T, first);
  const Var frequency = frequencies(tape);
  const std::size_t B = times.shape()[0], H = frequency.dim(0), n = frequency.dim(1), N = H * n;
  const Var depth = reshape(sigmoid(tape(logit_)), {1, 1, H, 1});
  const Var waves = harmonics({1, {times.begin(), times.end()}}, reshape(frequency, {N, 1}));
  const Var sine = reshape(slice(waves, 1, 0, N), {B, T, N, 1});
  const Var cosine = reshape(slice(waves, 1, N, 2 * N), {B, T, N, 1});
  const Var shifted =
      cosine * tape.constant(of_phases(std::cos)) - sine * tape.constant(of_phases(std::sin));
  return scale(shift(depth * reshape(shifted, {B, T, H, phases * n}), 1),
               1 / std::sqrt(real(phases * n)));
}

Features turned(const Features& features, const Var& turns) {
  if (!turns.exists()) return features;
  const Shape shape = features.shape();
  const std::size_t n = turns.dim(3);
  const Var each = broadcast_to(reshape(turns, {turns.dim(0), shape[1], shape[2], 1, n}),
                                {shape[0], shape[1], shape[2], 1, n});
  return product_features(features.scale == FeatureScale::logarithmic ? log(each) : each, features);
}

void TimeKernel::visit(Visitor& visitor) {
  if (kind_ == "decay" || rotates()) visitor("log_rate", log_rate_);
  if (kind_ == "rotation") visitor("log_frequency", log_frequency_);
  if (rotates()) visitor("logit", logit_);
  if (density_) visitor("density", *density_);
  if (kind_ == "gate") {
    visitor("gate", gate_);
    visitor("gate_bias", gate_bias_);
  }
}

Times times_of(const Layout& layout, std::size_t T, double first) {
  if (layout.regular()) {
    Times times(Times::shape_type{1, T});
    for (std::size_t t = 0; t < T; ++t) times(0, t) = first + double(t);
    return times;
  }
  Times times = layout.gaps;
  for (std::size_t b = 0; b < times.shape()[0]; ++b) {
    for (std::size_t t = 1; t < T; ++t) times(b, t) += times(b, t - 1);
  }
  return times;
}

}  // namespace bochner::inline BOCHNER_PRECISION
