#include <algorithm>
#include <bochner/base/numeric/quantile.hpp>
#include <bochner/layers/spectral/density.hpp>
#include <bochner/layers/spectral/kernel_curve.hpp>
#include <bochner/train/run/instruments/kernel_sample.hpp>
#include <bochner/train/studies/density_checks.hpp>
#include <cmath>
#include <numbers>
#include <optional>

namespace bochner {
namespace {

/// Largest deviation from the mean over draws, in standard errors.
constexpr double most_deviation = 6;
/// Largest relative difference of values that are equal up to rounding, and of slopes.
constexpr double rounding = sizeof(real) == sizeof(double) ? 1e-9 : 1e-3,
                 coarse = sizeof(real) == sizeof(double) ? 1e-5 : 5e-2;

/// Returns a spec with different heads and coordinates and independent draws.
DensitySpec sampled_spec(const std::string& kind) {
  DensitySpec spec;
  spec.kind = kind;
  spec.draws = "iid";
  spec.heads = 2, spec.m = 1 << 14, spec.dim = 2;
  spec.temperature = 0;  // of a mixture: closed forms are those of the hard choice
  return spec;
}

void move_parameters(Module& module) {
  for (const NamedParameter& named : parameters_of(module)) {
    const RandomFunction random{1, Purpose::test, stream_of(named.name.c_str())};
    Tensor& value = named.parameter->value();
    for (std::size_t i = 0; i < value.size(); ++i) value.data()[i] += real(0.3 * random.normal(i));
  }
}

/// A density with moved parameters and its draws.
struct Sampled {
  std::unique_ptr<SpectralDensity> density;
  std::size_t heads, m, dim;
  Tensor draws;  // (H, m, d)

  explicit Sampled(const DensitySpec& spec)
      : density(make_density(spec)), heads(spec.heads), m(spec.m), dim(spec.dim) {
    initialize(*density, 1);
    move_parameters(*density);
    draws = evaluated([&](Tape& tape) { return density->draws(tape); });
  }
  const real* draw(std::size_t head, std::size_t i) const {
    return draws.data() + (head * m + i) * dim;
  }
  std::vector<double> point(std::size_t head, std::size_t i) const {
    return {draw(head, i), draw(head, i) + dim};
  }
};

/// Mean and its standard error.
struct MeanOfDraws {
  double sum = 0, squares = 0, count = 0;

  void add(double x) { sum += x, squares += x * x, ++count; }
  /// Returns the distance from an expected value in standard errors, with some for rounding.
  double distance(double expected) const {
    constexpr double rounding_error = 1e-4;
    const double mean = sum / count;
    const double variance = std::max(0.0, squares / count - mean * mean);
    return std::fabs(mean - expected) / (std::sqrt(variance / count) + rounding_error);
  }
};

/// Returns the kernel's deviation in standard errors of the mean over draws of a head.
double kernel_deviation(const Sampled& sampled, std::size_t head, const PointFunction& kernel,
                        const std::vector<double>& lag) {
  MeanOfDraws mean;
  for (std::size_t i = 0; i < sampled.m; ++i) {
    double phase = 0;
    for (std::size_t j = 0; j < sampled.dim; ++j)
      phase += double(sampled.draw(head, i)[j]) * lag[j];
    mean.add(std::cos(phase));
  }
  return mean.distance(kernel(lag.data()));
}

double larger(double a, double b) { return std::isnan(b) ? b : std::max(a, b); }

void check_kernel(const Sampled& sampled, const DensitySpec& spec, std::vector<DensityCheck>& all) {
  const RandomFunction random{1, Purpose::test, stream_of("lags")};
  std::optional<double> largest;
  for (std::size_t h = 0; h < sampled.heads; ++h) {
    const PointFunction kernel = sampled.density->kernel(h);
    if (!kernel) continue;
    for (std::uint64_t i = 0; i < 8; ++i) {
      const double unit = std::exp(-spec.log_scale);
      const std::vector<double> lag{unit * random.normal(2 * i), unit * random.normal(2 * i + 1)};
      largest = larger(largest.value_or(0), kernel_deviation(sampled, h, kernel, lag));
    }
  }
  if (largest)
    all.push_back({"kernel()", *largest, most_deviation,
                   "standard errors from the mean of its draws",
                   "kernel() does not match sample()"});
}

/// A normal density within the draws of a head, half as wide, with independent coordinates.
class Within {
 public:
  Within(const Sampled& sampled, std::size_t head) {
    constexpr double quartiles_of_normal = 1.349;
    for (std::size_t j = 0; j < sampled.dim; ++j) {
      std::vector<double> values;
      for (std::size_t i = 0; i < sampled.m; ++i)
        values.push_back(double(sampled.draw(head, i)[j]));
      centre_.push_back(quantile_of(values, 0.5));
      width_.push_back((quantile_of(values, 0.75) - quantile_of(values, 0.25)) /
                       quartiles_of_normal / 2);
    }
  }
  double log_density(const std::vector<double>& point) const {
    double sum = 0;
    for (std::size_t j = 0; j < point.size(); ++j) {
      const double z = (point[j] - centre_[j]) / width_[j];
      sum -= z * z / 2 + std::log(width_[j]) + std::log(2 * std::numbers::pi) / 2;
    }
    return sum;
  }

 private:
  std::vector<double> centre_, width_;
};

/// E q / p = 1 over draws of p for any density q.
void check_log_density(const Sampled& sampled, std::vector<DensityCheck>& all) {
  std::optional<double> largest, entropy;
  for (std::size_t h = 0; h < sampled.heads; ++h) {
    const PointFunction log_density = sampled.density->log_density(h);
    if (!log_density) continue;
    const Within within(sampled, h);
    MeanOfDraws ratio, surprise;
    for (std::size_t i = 0; i < sampled.m; ++i) {
      const std::vector<double> point = sampled.point(h, i);
      const double log_p = log_density(point.data());
      ratio.add(std::exp(within.log_density(point) - log_p));
      surprise.add(-log_p);
    }
    largest = larger(largest.value_or(0), ratio.distance(1));
    if (const std::optional<double> found = sampled.density->entropy(h))
      entropy = larger(entropy.value_or(0), surprise.distance(*found));
  }
  if (largest)
    all.push_back({"log_density()", *largest, most_deviation,
                   "standard errors from a density, over its draws",
                   "log_density() does not match sample()"});
  if (entropy)
    all.push_back({"entropy()", *entropy, most_deviation,
                   "standard errors from the mean of -log_density() over its draws",
                   "entropy() does not match log_density() and sample()"});
}

Tensor log_densities_of(SpectralDensity& density, const Tensor& points) try {
  return evaluated([&](Tape& tape) { return density.log_densities(tape, Var(points)); });
} catch (const std::invalid_argument&) {
  return Tensor();  // it has none
}

void check_log_densities(const Sampled& sampled, std::vector<DensityCheck>& all) {
  const Tensor on_tape = log_densities_of(*sampled.density, sampled.draws);
  if (on_tape.size() != sampled.heads * sampled.m) return;
  double apart = 0, largest = 0;
  for (std::size_t h = 0; h < sampled.heads; ++h) {
    const PointFunction log_density = sampled.density->log_density(h);
    if (!log_density) return;
    for (std::size_t i = 0; i < sampled.m; ++i) {
      const double expected = log_density(sampled.point(h, i).data());
      apart = larger(apart, std::fabs(double(on_tape.data()[h * sampled.m + i]) - expected));
      largest = std::max(largest, std::fabs(expected));
    }
  }
  all.push_back({"log_densities()", apart / largest, rounding, "from log_density()",
                 "log_densities() does not match log_density()"});
}

/// Values of a curve at some lags.
std::vector<double> values_of(const KernelCurve& curve, const std::vector<double>& lags) {
  std::vector<double> values(lags.size());
  curve.values(lags.size(), lags.data(), values.data());
  return values;
}

/// Returns the largest difference of slopes of sum_i w_i k(lag_i) from central differences.
double slope_error(SpectralDensity& density, const std::vector<double>& lags,
                   const std::vector<double>& weights) {
  const double step = sizeof(real) == sizeof(double) ? 1e-5 : 1e-2;
  const auto total = [&] {
    const std::vector<double> values = values_of(*density.curve(0), lags);
    double sum = 0;
    for (std::size_t i = 0; i < lags.size(); ++i) sum += weights[i] * values[i];
    return sum;
  };
  std::vector<double> slopes(density.curve(0)->parameters());
  density.curve(0)->pull_back(lags.size(), lags.data(), weights.data(), slopes.data());
  double apart = 0;
  std::size_t p = 0;
  for (const NamedParameter& named : parameters_of(density))
    for (std::size_t i = 0; i < named.parameter->value().size() && p < slopes.size(); ++i, ++p) {
      real& value = named.parameter->value().data()[i];
      const real before = value;
      value = before + real(step);
      const double above = total();
      value = before - real(step);
      const double below = total();
      value = before;
      apart = larger(apart, std::fabs((above - below) / (2 * step) - slopes[p]));
    }
  return apart;
}

void check_curve(const std::string& kind, std::vector<DensityCheck>& all) {
  DensitySpec spec = sampled_spec(kind);
  spec.heads = spec.dim = 1, spec.m = 1;
  const Sampled sampled(spec);
  const std::unique_ptr<KernelCurve> curve = sampled.density->curve(0);
  const PointFunction kernel = sampled.density->kernel(0);
  if (!curve) return;
  const std::vector<double> lags{0.1, 0.4, 0.9, 1.7}, weights{1, -0.5, 2, 0.7};
  double apart = 0;
  const std::vector<double> values = values_of(*curve, lags);
  for (std::size_t i = 0; i < lags.size() && kernel; ++i)
    apart = larger(apart, std::fabs(values[i] - kernel(&lags[i])));
  all.push_back({"curve()", apart, coarse, "from kernel()", "curve() does not match kernel()"});
  all.push_back({"slopes of curve()", slope_error(*sampled.density, lags, weights), coarse,
                 "from differences", "the slopes of curve() are not those of its values"});
}

}  // namespace

std::vector<DensityCheck> check_density(const std::string& kind) {
  const DensitySpec spec = sampled_spec(kind);
  const Sampled sampled(spec);
  std::vector<DensityCheck> all;
  check_kernel(sampled, spec, all);
  check_log_density(sampled, all);
  check_log_densities(sampled, all);
  check_curve(kind, all);
  return all;
}

}  // namespace bochner
