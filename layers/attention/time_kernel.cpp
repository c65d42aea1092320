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
  require(kind_ == "none" || kind_ == "decay" || kind_ == "rotation" || kind_ == "gate",
          "time_kernel", "no time kernel is called \"", kind_,
          "\"; there are: none, decay, rotation, gate");
  const Tensor rates = start_rates(spec, heads);
  if (kind_ == "decay" || kind_ == "rotation") log_rate_.assign(rates);
  if (kind_ == "rotation") {
    log_frequency_.assign(rates + real(std::log(std::numbers::pi)));
    logit_.assign(zeros({heads}));
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

Var TimeKernel::rotation(Tape& tape) {
  if (kind_ != "rotation") return Var();
  const Var frequency = exp(tape(log_frequency_)), amplitude = square(sigmoid(tape(logit_))) * 0.5;
  const Shape column{frequency.dim(0), 1};
  return concat({reshape(frequency, column), reshape(amplitude, column)}, -1);
}

/// (1 + b cos(nu t + angle)) / sqrt(phases) for each phase: the sum over the phases of its products
/// at t and t' is 1 + b^2 / 2 cos(nu (t - t')).
Var TimeKernel::turns(Tape& tape, const Layout& layout, std::size_t T, double first) {
  if (kind_ != "rotation") return Var();
  const Times times = times_of(layout, T, first);
  const std::size_t B = times.shape()[0], H = log_frequency_.value().size();
  const Var frequency = reshape(exp(tape(log_frequency_)), {H, 1});
  const Var depth = reshape(sigmoid(tape(logit_)), {1, 1, H, 1});
  const Var waves = harmonics({1, {times.begin(), times.end()}}, frequency);  // (B T, 2H)
  const Var sine = reshape(slice(waves, 1, 0, H), {B, T, H, 1});
  const Var cosine = reshape(slice(waves, 1, H, 2 * H), {B, T, H, 1});
  const Var shifted =
      cosine * tape.constant(of_phases(std::cos)) - sine * tape.constant(of_phases(std::sin));
  return scale(shift(depth * shifted, 1), 1 / std::sqrt(real(phases)));
}

Features turned(const Features& features, const Var& turns) {
  if (!turns.exists()) return features;
  const Shape shape = features.shape();
  const Var each = broadcast_to(reshape(turns, {turns.dim(0), shape[1], shape[2], 1, phases}),
                                {shape[0], shape[1], shape[2], 1, phases});
  return product_features(features.scale == FeatureScale::logarithmic ? log(each) : each, features);
}

void TimeKernel::visit(Visitor& visitor) {
  if (kind_ == "decay" || kind_ == "rotation") visitor("log_rate", log_rate_);
  if (kind_ == "rotation") {
    visitor("log_frequency", log_frequency_);
    visitor("logit", logit_);
  }
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
