#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/attention/time_kernel.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Returns log(1 / tau) per head, tau spaced geometrically from shortest to longest.
Tensor initial_rates(const TimeKernelSpec& spec, std::size_t heads) {
  Tensor rates = zeros({heads});
  for (std::size_t h = 0; h < heads; ++h) {
    const double part = heads > 1 ? double(h) / double(heads - 1) : 0;
    rates.data()[h] = real(-(1 - part) * std::log(spec.shortest) - part * std::log(spec.longest));
  }
  return rates;
}

/// Spreads initial rates over the channels of all heads, so that heads differ as with one rate
/// each; channels of one frequency share a rate. -> (H, F)
Tensor initial_rates(const TimeKernelSpec& spec, std::size_t heads, const KeyChannels& channels) {
  if (channels.count == 0) return initial_rates(spec, heads);
  const Tensor all = initial_rates(spec, heads * channels.period);
  Tensor rates = zeros({heads, channels.count});
  for (std::size_t h = 0; h < heads; ++h) {
    const real* head = all.data() + h * channels.period;
    for (std::size_t f = 0; f < channels.count; ++f) rates(h, f) = head[f % channels.period];
    if (channels.constant) rates(h, channels.count - 1) = head[channels.period - 1];
  }
  return rates;
}

/// Frequencies are one-dimensional, n per head.
DensitySpec density_of(const TimeKernelSpec& spec, std::size_t heads) {
  DensitySpec density = spec.density;
  density.heads = heads;
  density.m = spec.frequencies;
  density.dim = 1;
  return density;
}

/// Returns function(k angle) at 2N + 1 phases: the fewest for which summing products of N harmonics
/// over phases leaves a function of the lag. -> (1, 1, 1, 2N + 1)
Tensor at_phases(double (*function)(double), std::size_t k, std::size_t N) {
  const std::size_t phases = 2 * N + 1;
  Tensor y = zeros({1, 1, 1, phases});
  for (std::size_t p = 0; p < phases; ++p)
    y.data()[p] = real(function(2 * std::numbers::pi * double(k * p) / double(phases)));
  return y;
}

/// Returns cos(nu t + k angle): times (B, T), frequency (H, n) -> (B, T, H, n phases).
Var shifted_waves(Tape& tape, const Times& times, const Var& frequency, std::size_t k,
                  std::size_t N) {
  const std::size_t B = times.shape()[0], T = times.shape()[1], H = frequency.dim(0);
  const std::size_t all = H * frequency.dim(1);
  const Var waves =
      fourier_features_at({1, {times.begin(), times.end()}}, reshape(frequency, {all, 1}));
  const Var sine = reshape(slice(waves, 1, 0, all), {B, T, all, 1});
  const Var cosine = reshape(slice(waves, 1, all, 2 * all), {B, T, all, 1});
  return reshape(cosine * tape.constant(at_phases(std::cos, k, N)) -
                     sine * tape.constant(at_phases(std::sin, k, N)),
                 {B, T, H, frequency.dim(1) * (2 * N + 1)});
}

}  // namespace

TimeKernel::TimeKernel(const TimeKernelSpec& spec, std::size_t heads, std::size_t width,
                       const KeyChannels& channels)
    : kind_(checked("time_kernel", spec).kind), heads_(heads), channels_(channels.count) {
  require(channels_ == 0 || kind_ == "decay" || kind_ == "gate", "time_kernel",
          "per = \"channel\" needs kind = \"decay\" or \"gate\", not \"", kind_, "\"");
  const Tensor rates = initial_rates(spec, heads, channels);
  if (kind_ == "decay" || rotates()) log_rate_.assign(rates);
  if (kind_ == "rotation") {
    log_frequency_.assign(rates + real(std::log(std::numbers::pi)));
    logit_.assign(zeros({heads}));
  }
  if (kind_ == "spectral") {
    harmonics_ = spec.harmonics;
    density_ = make_density(density_of(spec, heads));
    unit_ = xt::exp(rates) * real(std::numbers::pi);
    unit_.reshape(Shape{heads, 1, 1});
    logit_.assign(filled({heads}, real(3)));  // b = 0.95 makes the density visible to gradients
  }
  if (kind_ == "gate") initialize_gates(rates, width, channels_ > 0 ? spec.rank : 0);
}

void TimeKernel::initialize_gates(const Tensor& rates, std::size_t width, std::size_t rank) {
  if (rank > 0)
    gate_down_ = Parameter({width, rank}, Initial::normal(1 / std::sqrt(double(width))));
  gate_.assign(zeros({rank > 0 ? rank : width, rates.size()}));
  Tensor bias = zeros({rates.size()});  // softplus(bias) = 1 / tau
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const real rate = std::exp(rates.data()[i]);
    bias.data()[i] = rate < 20 ? std::log(std::expm1(rate)) : rate;
  }
  gate_bias_.assign(std::move(bias));
}

Var TimeKernel::gated_rate(Tape& tape, const Var& x) {
  const bool narrow = gate_down_.value().dimension() > 0;
  const Var y = narrow ? matmul(x, tape(gate_down_)) : x;
  const Var rate = softplus(affine(y, tape(gate_), tape(gate_bias_)));
  return channels_ > 0 ? reshape(rate, {x.dim(0), x.dim(1), heads_, channels_}) : rate;
}

Var TimeKernel::rate(Tape& tape, Normed& x, const Layout& layout) {
  if (!active()) return Var();
  const Var rate =
      kind_ == "gate" ? gated_rate(tape, x.rows(tape)) : exp(clamp(tape(log_rate_), -80, 80));
  if (layout.regular()) return rate;
  Shape each{layout.gaps.shape()[0], layout.gaps.shape()[1], 1};
  if (channels_ > 0) each.push_back(1);
  return reshape(tape.constant(layout.gaps), each) * rate;
}

Var TimeKernel::frequencies(Tape& tape) {
  const std::size_t H = logit_.value().size();
  if (!density_) return reshape(exp(clamp(tape(log_frequency_), -80, 80)), {H, 1});
  const Var draws = density_->draws(tape);
  return reshape(draws * tape.view(unit_), {H, draws.dim(1)});
}

Var TimeKernel::rotation(Tape& tape) {
  if (!rotates()) return Var();
  const Var frequency = frequencies(tape), square_depth = square(sigmoid(tape(logit_)));
  const std::size_t H = frequency.dim(0), n = frequency.dim(1);
  const std::vector<double> c = harmonic_coefficients(harmonics_);
  std::vector<Var> terms;
  Var power = square_depth;  // b^(2k)
  for (std::size_t k = 1; k <= harmonics_; ++k) {
    const Var amplitude = power * (2 * c[k - 1] * c[k - 1] / double(n));
    terms.push_back(concat({reshape(frequency * double(k), {H, n, 1}),
                            broadcast_to(reshape(amplitude, {H, 1, 1}), {H, n, 1})},
                           -1));
    power = power * square_depth;
  }
  return concat(terms, 1);
}

/// Returns (1 + sum_k 2 b^k c_k cos(k (nu t + angle))) / sqrt(phases n) per frequency and phase.
Var TimeKernel::modulation(Tape& tape, const Layout& layout, std::size_t T, double first) {
  if (!rotates()) return Var();
  const Times times = times_of(layout, T, first);
  const Var frequency = frequencies(tape);
  const std::size_t H = frequency.dim(0), n = frequency.dim(1);
  const Var depth = reshape(sigmoid(tape(logit_)), {1, 1, H, 1});
  const std::vector<double> c = harmonic_coefficients(harmonics_);
  Var sum = depth * shifted_waves(tape, times, frequency, 1, harmonics_);
  if (harmonics_ > 1) sum = sum * (2 * c[0]);
  Var power = depth;
  for (std::size_t k = 2; k <= harmonics_; ++k) {
    power = power * depth;
    sum = sum +
          power * (2 * c[k - 1]) * shifted_waves(tape, times, frequency * double(k), k, harmonics_);
  }
  return scale(shift(sum, 1), 1 / std::sqrt(real((2 * harmonics_ + 1) * n)));
}

std::vector<double> harmonic_coefficients(std::size_t N) {
  const auto s = [N](std::size_t j) {
    return std::sin(double(j + 1) * std::numbers::pi / double(N + 2));
  };
  std::vector<double> c(N + 1);
  for (std::size_t k = 0; k <= N; ++k)
    for (std::size_t j = 0; j + k <= N; ++j) c[k] += s(j) * s(j + k);
  for (std::size_t k = N + 1; k-- > 0;) c[k] /= c[0];
  c.erase(c.begin());
  return c;
}

Features modulated(const Features& features, const Var& modulation) {
  if (!modulation.exists()) return features;
  const Shape shape = features.shape();
  const std::size_t n = modulation.dim(3);
  const Var each = broadcast_to(reshape(modulation, {modulation.dim(0), shape[1], shape[2], 1, n}),
                                {shape[0], shape[1], shape[2], 1, n});
  if (features.scale == FeatureScale::linear) return product_features(each, features);
  // Waves may cancel to slightly below 0.
  const Var least = filled({1}, std::numeric_limits<real>::epsilon());
  return product_features(log(maximum(each, least)), features);
}

void TimeKernel::visit(Visitor& visitor) {
  if (kind_ == "decay" || rotates()) visitor("log_rate", log_rate_);
  if (kind_ == "rotation") visitor("log_frequency", log_frequency_);
  if (rotates()) visitor("logit", logit_);
  if (density_) visitor("density", *density_);
  if (gate_down_.value().dimension() > 0) visitor("gate_down", gate_down_);
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
