#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/encodings/time_encoding.hpp>
#include <bochner/layers/spectral/initial.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// m^(-1/2) [cos w t, sin w t] with m draws w of a learned spectral density: "gaussian" (w = mean +
/// scale z), "flow" (w = F^-1(u), a monotone spline) and the others. K is always a function of the
/// lag. Xu et al., "Self-attention with functional time representation learning", 2019.
class BochnerTime : public TimeEncoding {
 public:
  explicit BochnerTime(const TimeEncodingSpec& spec)
      : m_(spec.m),
        fits_by_em_(spec.density.start == "em"),
        density_(make_density(density_of(spec))) {}

  std::size_t features() const override { return 2 * m_; }
  Var forward(Tape& tape, const Times& times) override {
    return fourier_time(times, reshape(density_->draws(tape), {m_}));
  }
  std::function<double(double)> kernel() override {
    const PointFunction kernel = density_->kernel(0);
    if (!kernel) return {};
    return [kernel](double lag) { return kernel(&lag); };
  }
  void init_frequencies(const std::vector<double>& frequencies) override {
    if (fits_by_em_) return density_->fit(frequencies);
    double square = 0;
    for (const double w : frequencies) square += w * w / double(frequencies.size());
    density_->init_log_scale({std::log(square) / 2});
  }
  bool rotates() const override { return true; }
  void visit(Visitor& visitor) override { visitor("density", *density_); }

 private:
  static DensitySpec density_of(const TimeEncodingSpec& spec) {
    DensitySpec density = spec.density;
    density.kind = spec.kind;
    density.heads = density.dim = 1;
    density.m = spec.m;
    return density;
  }

  std::size_t m_;
  bool fits_by_em_;
  std::unique_ptr<SpectralDensity> density_;
};

/// Returns log frequencies from period spec.shortest to longest in the spec's spacing, in m - 1
/// steps, or in m steps without the last frequency. -> (m)
Tensor log_frequencies(const TimeEncodingSpec& spec) {
  require(spec.m >= 1 && spec.shortest > 0 && spec.longest >= spec.shortest, "time_encoding",
          "requires m >= 1 and 0 < shortest <= longest: m = ", spec.m,
          ", shortest = ", spec.shortest, ", longest = ", spec.longest);
  Tensor log_w = uninitialized({spec.m});
  const std::size_t steps = spec.endpoint ? std::max<std::size_t>(spec.m - 1, 1) : spec.m;
  for (std::size_t i = 0; i < spec.m; ++i) {
    const double part = double(i) / double(steps);
    log_w.data()[i] =
        spec.spacing == "linear"
            ? real(std::log(2 * std::numbers::pi *
                            ((1 - part) / spec.shortest + part / spec.longest)))
            : real(std::log(2 * std::numbers::pi) - (1 - part) * std::log(spec.shortest) -
                   part * std::log(spec.longest));
  }
  return log_w;
}

/// Stores log quantiles of |frequency|, the fastest first. -> (m)
void store_log_quantiles(std::vector<double> frequencies, Tensor& log_w) {
  for (double& w : frequencies) w = std::abs(w);
  std::ranges::sort(frequencies, std::greater<>());
  for (std::size_t i = 0; i < log_w.size(); ++i)
    log_w.data()[i] =
        real(std::log(frequencies[(2 * i + 1) * frequencies.size() / (2 * log_w.size())]));
}

/// Frequencies as parameters, in logarithms; sine and cosine share them, so that K is a function of
/// the lag. Initially spaced as the spec says.
class FreeTime : public TimeEncoding {
 public:
  explicit FreeTime(const TimeEncodingSpec& spec) : log_frequency_(log_frequencies(spec)) {}

  std::size_t features() const override { return 2 * log_frequency_.value().size(); }
  Var forward(Tape& tape, const Times& times) override {
    return fourier_time(times, exp(tape(log_frequency_)));
  }
  std::function<double(double)> kernel() override {
    const Tensor& log_w = log_frequency_.value();
    return [log_w = std::vector<double>(log_w.begin(), log_w.end())](double lag) {
      double sum = 0;
      for (const double log_frequency : log_w) sum += std::cos(std::exp(log_frequency) * lag);
      return sum / double(log_w.size());
    };
  }
  void init_frequencies(const std::vector<double>& frequencies) override {
    store_log_quantiles(frequencies, log_frequency_.value());
  }
  bool rotates() const override { return true; }
  void visit(Visitor& visitor) override { visitor("log_frequency", log_frequency_); }

 protected:
  Parameter log_frequency_;  // (m)
};

/// Fixed frequencies: Vaswani et al., 2017, at real times.
class SinusoidalTime : public FreeTime {
 public:
  using FreeTime::FreeTime;
  Var forward(Tape& tape, const Times& times) override {
    return fourier_time(times, exp(tape.view(log_frequency_.value())));
  }
  void init_frequencies(const std::vector<double>&) override {  // frequencies are not saved
    require(false, "time_encoding", "fixed frequencies cannot start from data");
  }
  void visit(Visitor&) override {}
};

/// Returns equal coefficients of sum 1, so that initially |Phi| = 1.
Tensor equal_coefficients(const TimeEncodingSpec& spec) {
  const std::size_t terms = 1 + (spec.paired ? 1 : 2) * spec.degree;
  return filled({spec.m, terms}, real(-std::log(double(spec.m * (1 + spec.degree)))));
}

/// Truncated Fourier basis [c_0^(1/2), c_2j^(1/2) cos j w t, c_(2j+1)^(1/2) sin j w t], j = 1 .. J,
/// per base frequency w, with learned positive coefficients: K is the sum of the periodic kernels,
/// and a function of the lag iff c_2j = c_(2j+1), which `paired` ensures. Xu et al., 2019.
class MercerTime : public TimeEncoding {
 public:
  explicit MercerTime(const TimeEncodingSpec& spec)
      : degree_(spec.degree),
        log_frequency_(log_frequencies(spec)),
        log_coefficient_(equal_coefficients(spec)) {}

  std::size_t features() const override {
    return log_frequency_.value().size() * (1 + 2 * degree_);
  }
  Var forward(Tape& tape, const Times& times) override {
    Var amplitude = exp(tape(log_coefficient_) * 0.5);
    if (amplitude.dim(1) == 1 + degree_)
      amplitude = concat({amplitude, slice(amplitude, 1, 1, 1 + degree_)}, 1);
    Shape shape(times.shape().begin(), times.shape().end());
    shape.push_back(features());
    return reshape(fourier_series(times, exp(tape(log_frequency_)), amplitude), shape);
  }
  std::function<double(double)> kernel() override {
    const Tensor &log_w = log_frequency_.value(), &log_c = log_coefficient_.value();
    const std::size_t terms = log_c.shape()[1];
    if (terms != 1 + degree_) return {};
    return [terms, w = std::vector<double>(log_w.begin(), log_w.end()),
            c = std::vector<double>(log_c.begin(), log_c.end())](double lag) {
      double sum = 0;
      for (std::size_t i = 0; i < w.size(); ++i)
        for (std::size_t j = 0; j < terms; ++j)
          sum += std::exp(c[i * terms + j]) * std::cos(double(j) * std::exp(w[i]) * lag);
      return sum;
    };
  }
  void init_frequencies(const std::vector<double>& frequencies) override {
    store_log_quantiles(frequencies, log_frequency_.value());
  }
  void visit(Visitor& visitor) override {
    visitor("log_frequency", log_frequency_);
    visitor("log_coefficient", log_coefficient_);
  }

 private:
  std::size_t degree_;
  Parameter log_frequency_;    // (k)
  Parameter log_coefficient_;  // (k, 1 + J) if paired, else (k, 1 + 2J)
};

/// One feature per base frequency: its Fourier series with learned signed coefficients, summed over
/// harmonics, as in the published code, not the paper. K is not a function of the lag.
class SummedMercerTime : public TimeEncoding {
 public:
  explicit SummedMercerTime(const TimeEncodingSpec& spec)
      : log_frequency_(log_frequencies(spec)),
        coefficient_({spec.m, 1 + 2 * spec.degree},
                     Initial::uniform(std::sqrt(6 / double(spec.m + 2 * spec.degree)))) {}

  std::size_t features() const override { return log_frequency_.value().size(); }
  Var forward(Tape& tape, const Times& times) override {
    return sum(fourier_series(times, exp(tape(log_frequency_)), tape(coefficient_)), -1);
  }
  void init_frequencies(const std::vector<double>& frequencies) override {
    store_log_quantiles(frequencies, log_frequency_.value());
  }
  void visit(Visitor& visitor) override {
    visitor("log_frequency", log_frequency_);
    visitor("coefficient", coefficient_);
  }

 private:
  Parameter log_frequency_;  // (k)
  Parameter coefficient_;    // (k, 1 + 2J)
};

constexpr std::size_t max_bins = 1024, draws_per_sequence = 64;

}  // namespace

void TimeEncoding::init_frequencies(const std::vector<double>&) {
  require(false, "time_encoding", "this encoding cannot start from data; set start = \"none\"");
}

std::vector<double> estimated_time_kernel(TimeEncoding& encoding, const std::vector<double>& lags,
                                          double at) {
  Times times(std::vector<std::size_t>{lags.size() + 1});
  times(0) = at;
  for (std::size_t i = 0; i < lags.size(); ++i) times(i + 1) = at + lags[i];
  Tape tape({.recording = false});
  const Var phi = encoding.forward(tape, times);
  std::vector<double> kernel(lags.size());
  const std::size_t F = encoding.features();
  for (std::size_t i = 0; i < lags.size(); ++i)
    for (std::size_t f = 0; f < F; ++f)
      kernel[i] += double(phi.data()[f]) * double(phi.data()[(i + 1) * F + f]);
  return kernel;
}

Registry<TimeEncoding, TimeEncodingSpec>& time_encodings() {
  static Registry<TimeEncoding, TimeEncodingSpec> registry = [] {
    Registry<TimeEncoding, TimeEncodingSpec> all("time encoding", {});
    for (const std::string& density : densities().names()) all.add(density, make<BochnerTime>);
    all.add("free", make<FreeTime>);  // replaces the density: spaced, not drawn
    all.add("mercer", make<MercerTime>);
    all.add("mercer_summed", make<SummedMercerTime>);
    all.add("sinusoidal", make<SinusoidalTime>);
    return std::move(all).built_in();
  }();
  return registry;
}

std::unique_ptr<TimeEncoding> make_time_encoding(const TimeEncodingSpec& spec) {
  if (spec.kind == "none") return nullptr;
  return time_encodings().make(spec.kind, spec);
}

std::vector<std::string> time_uses() { return {"concatenate", "add", "attend", "rotate"}; }

std::vector<double> event_frequencies(const Times& times, const RandomFunction& random) {
  std::vector<double> frequencies;
  const std::size_t T = times.shape()[1];
  for (std::size_t b = 0; b < times.shape()[0]; ++b) {
    const double* first = times.data() + b * T;
    const double* last = std::lower_bound(first, first + T, first[T - 1]);
    const double span = *last - *first;
    if (!(span > 0)) continue;
    const double width = std::max(0.5, span / double(max_bins - 1));
    Tensor counts = zeros({std::size_t(span / width) + 2, 1});
    for (const double* time = first; time <= last; ++time)
      counts.data()[std::size_t((*time - *first) / width)] += 1;
    const RandomFunction own{random.seed, random.purpose, random.stream + b};
    for (const real w : periodogram_frequencies(counts, width, draws_per_sequence, own))
      if (w != 0) frequencies.push_back(double(w));
  }
  return frequencies;
}

void init_time_frequencies(Module& model, const Times& times, std::uint64_t seed) {
  const std::vector<double> frequencies =
      event_frequencies(times, {seed, Purpose::spectral, stream_of("periodogram")});
  require(!frequencies.empty(), "time_encoding", "all events have the same time: no periodogram");
  for (const NamedPart& part : parts_of(model))
    if (auto* encoding = dynamic_cast<TimeEncoding*>(part.part))
      encoding->init_frequencies(frequencies);
}

}  // namespace bochner::inline BOCHNER_PRECISION
