#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/convolutions/filter.hpp>
#include <bochner/layers/recurrences/eigenvalues.hpp>
#include <cmath>
#include <numbers>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

std::size_t limit_of(const FilterSpec& spec) {
  return spec.length > 0 ? spec.length : std::numeric_limits<std::size_t>::max();
}

/// S4D's kernel h_d(lag) = 2 Re sum_n C_dn (exp(step_d A_dn) - 1) / A_dn exp(lag step_d A_dn),
/// zero-order hold. Initially A_dn = -1/2 + i pi n (lin), C complex normal, steps log-uniform. Gu
/// et al., "On the parameterization and initialization of diagonal state space models", 2022.
class ExponentialFilter : public Filter {
 public:
  explicit ExponentialFilter(const FilterSpec& spec)
      : limit_(limit_of(spec)),
        shortest_(spec.shortest),
        longest_(spec.longest),
        log_step_({spec.channels(), 1}, Initial::uniform(1)),
        log_decay_({spec.channels(), spec.states}),
        frequency_({spec.channels(), spec.states}),
        output_re_({spec.channels(), spec.states}, Initial::normal(std::sqrt(0.5))),
        output_im_({spec.channels(), spec.states}, Initial::normal(std::sqrt(0.5))) {
    const Eigenvalues start = initial_eigenvalues(spec.eigenvalues, spec.states);
    for (std::size_t i = 0; i < frequency_.value().size(); ++i) {
      log_decay_.value().data()[i] = real(std::log(-start.re[i % spec.states]));
      frequency_.value().data()[i] = real(start.im[i % spec.states]);
    }
  }

  Var at(Tape& tape, const Lags& lags) override {
    const Steps steps = steps_of(tape(log_decay_), tape(frequency_), tape(log_step_));
    const ComplexPair output = {tape(output_re_), tape(output_im_)};
    const ComplexPair weight = output * steps.zoh_gain();
    return exponential_kernels(-steps.z.re, steps.z.im, 2 * weight.re, -2 * weight.im, lags.count,
                               lags.descending);
  }

  std::size_t limit() const override { return limit_; }

  void visit(Visitor& visitor) override {
    visitor("log_step", log_step_);
    visitor("log_decay", log_decay_);
    visitor("frequency", frequency_);
    visitor("output_re", output_re_);
    visitor("output_im", output_im_);
  }

  /// Sets steps for which the time constants 2 / step are log-uniform.
  void initialized() override {
    const double low = std::log(2 / longest_), high = std::log(2 / shortest_);
    for (real& x : log_step_.value()) x = real((low + high) / 2 + double(x) * (high - low) / 2);
  }

 private:
  std::size_t limit_;
  double shortest_, longest_;
  Parameter log_step_;                                       // (channels, 1)
  Parameter log_decay_, frequency_, output_re_, output_im_;  // (channels, states)
};

/// Computes h_d(lag) = a_d exp(-lag / tau_d) mean_i cos(omega_di lag) with draws omega of a learned
/// density per channel. By Bochner's theorem the mean estimates the kernel of that density, and the
/// sum is a state space with one state per draw. Initial time constants are log-spaced, densities
/// in units of pi / tau, amplitudes sqrt(2 / tau), for energy 1 without oscillation.
class SpectralFilter : public Filter {
 public:
  explicit SpectralFilter(const FilterSpec& spec)
      : limit_(limit_of(spec)),
        draws_(spec.states),
        density_(make_density(density_of(spec))),
        unit_(zeros({spec.channels(), 1})),
        log_rate_(zeros({spec.channels(), 1})),
        amplitude_(zeros({spec.channels(), 1})) {
    for (std::size_t c = 0; c < spec.channels(); ++c) {
      const double part = spec.width > 1 ? double(c % spec.width) / double(spec.width - 1) : 0;
      const double tau = spec.shortest * std::pow(spec.longest / spec.shortest, part);
      unit_(c, 0) = real(std::numbers::pi / tau);
      log_rate_.value()(c, 0) = real(-std::log(tau));
      amplitude_.value()(c, 0) = real(std::sqrt(2 / tau));
    }
  }

  Var at(Tape& tape, const Lags& lags) override {
    const Var frequency = frequencies(tape);
    const Shape& shape = frequency.shape();
    const Var amplitude = tape(amplitude_) * (1 / double(draws_));
    return exponential_kernels(broadcast_to(exp(tape(log_rate_)), shape), frequency,
                               broadcast_to(amplitude, shape), tape.constant(zeros(shape)),
                               lags.count, lags.descending);
  }

  std::size_t limit() const override { return limit_; }

  Tensor drawn_frequencies() override {
    Tape tape({.recording = false});
    return frequencies(tape).value();
  }

  std::function<double(double)> frequency_density(std::size_t channel) override {
    const PointFunction log_density = density_->log_density(channel);
    if (!log_density) return {};
    return [log_density, unit = double(unit_(channel, 0))](double frequency) {
      const double w = frequency / unit, minus = -w;
      return (std::exp(log_density(&w)) + std::exp(log_density(&minus))) / unit;
    };
  }

  void visit(Visitor& visitor) override {
    visitor("density", *density_);
    visitor("log_rate", log_rate_);
    visitor("amplitude", amplitude_);
  }

 private:
  /// Returns frequencies in radians per token. -> (channels, draws)
  Var frequencies(Tape& tape) {
    return reshape(density_->draws(tape), {unit_.size(), draws_}) * tape.view(unit_);
  }
  static DensitySpec density_of(const FilterSpec& spec) {
    DensitySpec density = spec.density;
    density.heads = spec.channels(), density.m = spec.states, density.dim = 1;
    return density;
  }

  std::size_t limit_, draws_;
  std::unique_ptr<SpectralDensity> density_;
  Tensor unit_;                     // (channels, 1)
  Parameter log_rate_, amplitude_;  // (channels, 1)
};

}  // namespace

void add_waves(Registry<Filter, FilterSpec>& all) {
  all.add("exponential", make<ExponentialFilter>);
  all.add("spectral", make<SpectralFilter>);
}

}  // namespace bochner::inline BOCHNER_PRECISION
