#include <algorithm>
#include <bochner/train/run/instruments/density_curves.hpp>
#include <bochner/train/studies/learned_pages.hpp>
#include <cmath>
#include <numbers>

namespace bochner {
namespace {

constexpr std::size_t lags_of_curve = 161, frequencies_of_curve = 320;

/// Time factor exp(-rate lag) (1 + sum of amplitude cos(frequency lag)).
struct TimeFactor {
  struct Term {
    double frequency, amplitude;
  };
  double rate = 0;
  std::vector<Term> terms = {};
};

TimeFactor factor_of(const AttentionSample& sample, std::size_t head) {
  TimeFactor factor;
  const std::size_t H = sample.q.shape()[2], n = sample.rate.size() / H;
  for (std::size_t t = 0; t < n; ++t)
    factor.rate += double(sample.rate.data()[t * H + head]) / double(n);
  if (sample.rotation.dimension() != 3) return factor;
  for (std::size_t i = 0; i < sample.rotation.shape()[1]; ++i)
    factor.terms.push_back(
        {double(sample.rotation(head, i, 0)), double(sample.rotation(head, i, 1))});
  return factor;
}

/// Returns `centre` plus sum of amplitude wave(frequency), over 1 plus the sum of amplitudes.
template <class Wave>
double with_frequencies(const TimeFactor& factor, double centre, const Wave& wave) {
  double sum = centre, total = 1;
  for (const auto& [frequency, amplitude] : factor.terms) {
    sum += amplitude * wave(frequency);
    total += amplitude;
  }
  return sum / total;
}

double cauchy_density(double x, double width) {
  return width / (std::numbers::pi * (width * width + x * x));
}

/// Returns evenly spaced logarithms, and the peaks, which may be narrow.
std::vector<double> places_of_spectrum(const TimeFactor& factor, double longest) {
  double highest = std::max(std::numbers::pi, 4 * factor.rate);
  std::vector<double> peaks;
  for (const auto& [frequency, amplitude] : factor.terms) {
    const double peak = std::abs(frequency);
    highest = std::max(highest, 2 * peak);
    for (const double side : {-1.0, -0.3, 0.0, 0.3, 1.0})
      peaks.push_back(peak + side * factor.rate);
  }
  const double lowest = 0.5 / std::max(1.0, longest);
  std::vector<double> x = places(std::log(lowest), std::log(highest), frequencies_of_curve);
  for (double& place : x) place = std::exp(place);
  std::ranges::copy_if(peaks, std::back_inserter(x), [=](double at) { return at > lowest; });
  std::ranges::sort(x);
  return x;
}

}  // namespace

Curve time_factor(const AttentionSample& sample, std::size_t head, double longest) {
  const TimeFactor factor = factor_of(sample, head);
  Curve curve{places(0, longest, lags_of_curve), {}};
  for (const double lag : curve.x)
    curve.y.push_back(std::exp(-factor.rate * lag) *
                      with_frequencies(factor, 1, [&](double nu) { return std::cos(nu * lag); }));
  return curve;
}

Curve time_spectrum(const AttentionSample& sample, std::size_t head, double longest) {
  const TimeFactor factor = factor_of(sample, head);
  Curve curve{places_of_spectrum(factor, longest), {}};
  for (const double x : curve.x)
    curve.y.push_back(with_frequencies(factor, cauchy_density(x, factor.rate), [&](double nu) {
      return (cauchy_density(x - nu, factor.rate) + cauchy_density(x + nu, factor.rate)) / 2;
    }));
  return curve;
}

double time_drift(const AttentionSample& now, const AttentionSample& start) {
  if (now.rotation.dimension() != 3) return 0;
  double moved = 0, size = 0;
  for (std::size_t h = 0; h < now.rotation.shape()[0]; ++h) {
    const TimeFactor last = factor_of(now, h), first = factor_of(start, h);
    for (std::size_t i = 0; i < first.terms.size(); ++i) {
      moved += std::pow(last.terms[i].frequency - first.terms[i].frequency, 2);
      size += std::pow(first.terms[i].frequency, 2);
    }
  }
  return size > 0 ? std::sqrt(moved / size) : 0;
}

}  // namespace bochner
