#include <algorithm>
#include <array>
#include <bochner/layers/processes/process_start.hpp>
#include <bochner/layers/spectral/initial.hpp>
#include <cmath>
#include <numbers>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t most_rows = 4096, most_frequencies = 8192;

/// What is left of the targets along one input, evenly thinned.
struct Residual {
  std::vector<double> x, y;
};

Residual residual_of(const ProcessRows& rows, std::size_t input) {
  Residual rest;
  const std::size_t n = rows.size(), stride = (n + most_rows - 1) / most_rows;
  for (std::size_t i = 0; i < n; i += stride) {
    rest.x.push_back(rows.inputs[input][i]);
    rest.y.push_back(rows.targets[i]);
  }
  return rest;
}

double square_sum(const std::vector<double>& y) {
  return std::inner_product(y.begin(), y.end(), y.begin(), 0.0);
}

/// Subtracts the least squares of two functions, and a constant that `y` has not.
template <class First, class Second>
void subtract_fit(Residual& rest, const First& first, const Second& second) {
  double aa = 1e-12, ab = 0, bb = 1e-12, ay = 0, by = 0;
  for (std::size_t i = 0; i < rest.x.size(); ++i) {
    const double a = first(rest.x[i]), b = second(rest.x[i]);
    aa += a * a, ab += a * b, bb += b * b, ay += a * rest.y[i], by += b * rest.y[i];
  }
  const double determinant = aa * bb - ab * ab;
  if (!(determinant > 0)) return;
  const double p = (bb * ay - ab * by) / determinant, q = (aa * by - ab * ay) / determinant;
  for (std::size_t i = 0; i < rest.x.size(); ++i)
    rest.y[i] -= p * first(rest.x[i]) + q * second(rest.x[i]);
}

/// Power of the frequency, the squares that its wave explains, about.
double power_at(const Residual& rest, double frequency) {
  double cosine = 0, sine = 0;
  for (std::size_t i = 0; i < rest.x.size(); ++i) {
    cosine += rest.y[i] * std::cos(frequency * rest.x[i]);
    sine += rest.y[i] * std::sin(frequency * rest.x[i]);
  }
  return (cosine * cosine + sine * sine) * 2 / double(rest.x.size());
}

double median_spacing(std::vector<double> x) {
  std::ranges::sort(x);
  std::vector<double> steps;
  for (std::size_t i = 1; i < x.size(); ++i)
    if (x[i] > x[i - 1]) steps.push_back(x[i] - x[i - 1]);
  if (steps.empty()) return 0;
  const auto middle = steps.begin() + std::ptrdiff_t(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  return *middle;
}

/// The parameters of a component.
struct Wave {
  double mean, log_scale, log_power;
};

/// The first of them is slow.
std::vector<Wave> strongest_waves(Residual rest, std::size_t count) {
  const auto [least, most] = std::ranges::minmax(rest.x);
  const double span = most - least, spacing = median_spacing(rest.x);
  if (!(span > 0)) return std::vector<Wave>(count, {0, 0, 0});
  const double step = std::numbers::pi / span;  // half of what the rows can tell apart
  const auto bins = std::min(most_frequencies, std::size_t(span / spacing) + 1);
  const double all = square_sum(rest.y) + 1e-12;
  subtract_fit(
      rest, [](double) { return 1.0; }, [](double x) { return x; });
  std::vector<Wave> waves{{0, std::log(1 / span), std::log(0.5)}};
  while (waves.size() < count) {
    std::size_t best = 2;
    double strongest = -1;
    for (std::size_t bin = 2; bin <= bins; ++bin)
      if (const double power = power_at(rest, double(bin) * step); power > strongest)
        strongest = power, best = bin;
    const double frequency = double(best) * step;
    subtract_fit(
        rest, [&](double x) { return std::cos(frequency * x); },
        [&](double x) { return std::sin(frequency * x); });
    waves.push_back({frequency, std::log(step / 4), std::log(strongest / all + 1e-4)});
  }
  return waves;
}

Parameter& parameter_called(SpectralDensity& density, const char* name) {
  for (const NamedParameter& named : parameters_of(density))
    if (named.name == name) return *named.parameter;
  require(false, "density.start", "\"periodogram\" is for density.kind = \"mixture\"");
  std::abort();
}

}  // namespace

std::vector<double> distance_log_scales(const std::vector<std::vector<double>>& inputs,
                                        const std::vector<std::size_t>& heads, std::uint64_t seed) {
  std::vector<double> scales;
  for (const std::size_t input : heads) {
    Tensor column = uninitialized({inputs[input].size(), 1});
    std::ranges::transform(inputs[input], column.data(), [](double x) { return real(x); });
    scales.push_back(median_log_scale(column, {seed, Purpose::spectral, stream_of("process")})[0]);
  }
  return scales;
}

void start_at_waves(SpectralDensity& density, const std::vector<std::size_t>& heads,
                    const ProcessRows& rows) {
  const std::array<Parameter*, 3> parameters{&parameter_called(density, "mean"),
                                             &parameter_called(density, "log_scale"),
                                             &parameter_called(density, "logits")};
  const std::size_t K = parameters[2]->value().size() / heads.size();
  for (std::size_t head = 0; head < heads.size(); ++head) {
    const std::vector<Wave> waves = strongest_waves(residual_of(rows, heads[head]), K);
    for (std::size_t c = 0; c < K; ++c) {
      parameters[0]->value().data()[head * K + c] = real(waves[c].mean);
      parameters[1]->value().data()[head * K + c] = real(waves[c].log_scale);
      parameters[2]->value().data()[head * K + c] = real(waves[c].log_power);
    }
  }
}

}  // namespace bochner::inline BOCHNER_PRECISION
