#include <algorithm>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/train/run/instruments/density_curves.hpp>
#include <bochner/train/run/instruments/kernel_sample.hpp>
#include <bochner/train/run/instruments/statistics.hpp>
#include <iterator>
#include <numbers>

namespace bochner {
namespace {

constexpr std::size_t curve_points = 161, spectrum_points = 321;

/// Returns the m d coordinates of one head.
std::vector<double> coordinates(const Tensor& frequencies, std::size_t head) {
  const std::size_t count = frequencies.shape()[1] * frequencies.shape()[2];
  const real* begin = frequencies.data() + head * count;
  return {begin, begin + count};
}

}  // namespace

Tensor frequencies_of(SpectralDensity& density) {
  return evaluated([&](Tape& tape) { return density.draws(tape); });
}

double spectral_drift(const Tensor& now, const Tensor& start) {
  const Tensor move = now - start;
  const double size = sum_of_squares(start.data(), start.size());
  return size > 0 ? std::sqrt(sum_of_squares(move.data(), move.size()) / size) : 0;
}

std::vector<double> places(double low, double high, std::size_t points) {
  std::vector<double> x(points);
  for (std::size_t i = 0; i < points; ++i)
    x[i] = low + (high - low) * double(i) / double(std::max<std::size_t>(1, points - 1));
  return x;
}

Curve smoothed_density(const std::vector<double>& samples, std::vector<double> at,
                       double resolution) {
  const double n = double(samples.size());
  const double width = std::max(1.06 * deviation_of(samples) * std::pow(n, -0.2), resolution);
  Curve curve{std::move(at), {}};
  for (const double x : curve.x) {
    double sum = 0;
    for (const double sample : samples) sum += std::exp(-std::pow((x - sample) / width, 2) / 2);
    curve.y.push_back(sum / (n * width * std::sqrt(2 * std::numbers::pi)));
  }
  return curve;
}

Spectrum spectrum_of(SpectralDensity& density, const Tensor& frequencies, std::size_t head,
                     double reach) {
  const std::vector<double> samples = coordinates(frequencies, head);
  const std::vector<double> x = places(-reach, reach, spectrum_points);
  Spectrum spectrum;
  std::ranges::copy_if(samples, std::back_inserter(spectrum.draws),
                       [=](double draw) { return std::fabs(draw) <= reach; });
  const std::size_t d = frequencies.shape()[2];
  std::vector<double> mean(x.size());
  for (std::size_t j = 0; j < d; ++j) {
    const PointFunction marginal = density.log_marginal(head, j);
    if (!marginal) {
      spectrum.density = smoothed_density(samples, x, reach / 200);
      return spectrum;
    }
    for (std::size_t i = 0; i < x.size(); ++i) mean[i] += std::exp(marginal(&x[i])) / double(d);
  }
  spectrum.closed_form = true;
  spectrum.density = {x, mean};
  return spectrum;
}

void add_spectrum(Chart& chart, const std::string& name, const Spectrum& spectrum, Mark mark,
                  int colour) {
  chart.add(name, spectrum.density, mark, colour);
  if (mark == Mark::dashed) return;
  const std::vector<double> zeros(spectrum.draws.size());
  chart.add("", {spectrum.draws, zeros}, Mark::ticks, colour);
}

Curve kernel_of_draws(const Tensor& frequencies, std::size_t head, double reach) {
  const std::vector<double> samples = coordinates(frequencies, head);
  Curve curve{places(0, reach, curve_points), std::vector<double>(curve_points)};
  for (std::size_t i = 0; i < curve_points; ++i)
    for (const double sample : samples)
      curve.y[i] += std::cos(sample * curve.x[i]) / double(samples.size());
  return curve;
}

Curve kernel_curve(SpectralDensity& density, const Tensor& frequencies, std::size_t head,
                   double reach) {
  const PointFunction closed = density.kernel(head);
  if (!closed) return kernel_of_draws(frequencies, head, reach);
  Curve curve{places(0, reach, curve_points), std::vector<double>(curve_points)};
  std::vector<double> delta(frequencies.shape()[2]);
  for (std::size_t i = 0; i < curve_points; ++i)
    for (double& axis : delta) {
      axis = curve.x[i];
      curve.y[i] += closed(delta.data()) / double(delta.size());
      axis = 0;
    }
  return curve;
}

double spectral_reach(const Tensor& frequencies) {
  std::vector<double> sizes(frequencies.data(), frequencies.data() + frequencies.size());
  for (double& size : sizes) size = std::fabs(size);
  const auto at = sizes.begin() + std::ptrdiff_t(double(sizes.size() - 1) * 0.99);
  std::nth_element(sizes.begin(), at, sizes.end());
  return *at > 0 ? 1.15 * *at : 1;
}

double bandwidth(const Tensor& frequencies) {
  return std::sqrt(sum_of_squares(frequencies.data(), frequencies.size()) /
                   double(frequencies.size()));
}

TrainedSpectrum trained_spectrum(SpectralDensity& start, SpectralDensity& now) {
  const Tensor first = frequencies_of(start), last = frequencies_of(now);
  return {first, last, std::max(spectral_reach(first), spectral_reach(last)),
          4 / std::max(1e-12, std::min(bandwidth(first), bandwidth(last)))};
}

}  // namespace bochner
