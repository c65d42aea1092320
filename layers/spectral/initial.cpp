#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/numeric/quantile.hpp>
#include <bochner/layers/spectral/initial.hpp>
#include <cmath>
#include <complex>
#include <numbers>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t sampled_pairs = 4096;

/// Returns the median of nonzero absolute differences in a column; 0 if all are zero.
double median_difference(const Tensor& x, std::size_t column, const RandomFunction& random) {
  std::vector<double> differences;
  for (std::uint64_t i = 0; i < sampled_pairs; ++i) {
    const std::size_t a = random.integer(2 * i, x.shape()[0]);
    const std::size_t b = random.integer(2 * i + 1, x.shape()[0]);
    const double difference = std::abs(double(x(a, column)) - double(x(b, column)));
    if (difference > 0 && std::isfinite(difference)) differences.push_back(difference);
  }
  return median(std::move(differences));
}

/// Returns the power at 2 pi k / (T spacing), k = 1 .. T / 2, of a signal less its mean. The
/// highest one for even T is halved, as the others represent -k as well.
std::vector<double> periodogram(const Tensor& signals, std::size_t column) {
  const std::size_t T = signals.shape()[0];
  double mean = 0;
  for (std::size_t t = 0; t < T; ++t) mean += double(signals(t, column)) / double(T);
  std::vector<double> power(T / 2);
  for (std::size_t k = 1; k <= T / 2; ++k) {
    const auto rotation = std::polar(1.0, 2 * std::numbers::pi * double(k) / double(T));
    std::complex<double> phase = 1, sum = 0;
    for (std::size_t t = 0; t < T; ++t, phase *= rotation)
      sum += phase * (double(signals(t, column)) - mean);
    power[k - 1] = std::norm(sum);
  }
  if (T % 2 == 0) power.back() /= 2;
  return power;
}

/// Returns the power that rounding alone gives a constant.
double rounding_power(const Tensor& signals, std::size_t column) {
  double largest = 0;
  const std::size_t T = signals.shape()[0];
  for (std::size_t t = 0; t < T; ++t)
    largest = std::max(largest, std::abs(double(signals(t, column))));
  return std::pow(largest * double(T) * 1e-12, 2);
}

/// Returns the position in bins where cumulative power reaches a share u; the last bin has its
/// width.
double invert_cumulative(const std::vector<double>& cumulative, double last_width, double u) {
  const double target = u * cumulative.back();
  const auto found = std::lower_bound(cumulative.begin(), cumulative.end(), target);
  const std::size_t k = std::size_t(found - cumulative.begin());
  const double before = k == 0 ? 0 : cumulative[k - 1];
  const double width = k + 1 == cumulative.size() ? last_width : 1;
  return double(k) + width * (target - before) / (cumulative[k] - before);
}

constexpr std::size_t frequencies_per_task = 64;  // rotated from one exact phase

/// cos and sin of k step x, advanced from k to k + 1 by rotation.
struct RotatingWaves {
  RotatingWaves(const std::vector<double>& x, double step, std::size_t first)
      : cosine(x.size()), sine(x.size()), by_cosine(x.size()), by_sine(x.size()) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      by_cosine[i] = std::cos(step * x[i]), by_sine[i] = std::sin(step * x[i]);
      cosine[i] = std::cos(double(first) * step * x[i]);
      sine[i] = std::sin(double(first) * step * x[i]);
    }
  }
  void advance() {
    for (std::size_t i = 0; i < cosine.size(); ++i) {
      const double before = cosine[i];
      cosine[i] = before * by_cosine[i] - sine[i] * by_sine[i];
      sine[i] = sine[i] * by_cosine[i] + before * by_sine[i];
    }
  }
  std::vector<double> cosine, sine, by_cosine, by_sine;
};

/// Returns the sum of squares of y that the two functions explain.
double explained(const std::vector<double>& a, const std::vector<double>& b,
                 const std::vector<double>& y) {
  double aa = 0, ab = 0, bb = 0, ay = 0, by = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    aa += a[i] * a[i], ab += a[i] * b[i], bb += b[i] * b[i];
    ay += a[i] * y[i], by += b[i] * y[i];
  }
  const double determinant = aa * bb - ab * ab;
  if (!(determinant > 1e-9 * aa * bb)) return aa > 0 ? ay * ay / aa : 0;  // dependent functions
  return (bb * ay * ay - 2 * ab * ay * by + aa * by * by) / determinant;
}

}  // namespace

std::vector<double> median_log_scale(const Tensor& x, const RandomFunction& random) {
  require(x.dimension() == 2 && x.shape()[0] >= 2, "median_log_scale",
          "expected (n, d) with n >= 2, got ", x.shape());
  std::vector<double> log_scale(x.shape()[1]);
  std::vector<bool> varies(log_scale.size());
  double count = 0, sum = 0;
  for (std::size_t j = 0; j < log_scale.size(); ++j) {
    const double median = median_difference(x, j, random);
    varies[j] = median > 0;
    if (!varies[j]) continue;
    log_scale[j] = -std::log(median);
    sum += log_scale[j];
    ++count;
  }
  for (std::size_t j = 0; j < log_scale.size() && count > 0; ++j)
    log_scale[j] = (varies[j] ? log_scale[j] : sum / count) - std::log(count) / 2;
  return log_scale;
}

Tensor periodogram_frequencies(const Tensor& signals, double spacing, std::size_t m,
                               const RandomFunction& random) {
  require(signals.dimension() == 2 && signals.shape()[0] >= 2 && spacing > 0,
          "periodogram_frequencies", "expected signals (T, C) with T >= 2 and spacing > 0, got ",
          signals.shape(), ", ", spacing);
  const std::size_t T = signals.shape()[0], C = signals.shape()[1];
  const double bin = 2 * std::numbers::pi / (double(T) * spacing);
  const double last_width = T % 2 == 0 ? 0.5 : 1;  // no bin reaches beyond pi / spacing
  Tensor frequencies = zeros({m, C});
  parallel_for(C, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t c = begin; c < end; ++c) {
      std::vector<double> cumulative = periodogram(signals, c);
      for (std::size_t k = 1; k < cumulative.size(); ++k) cumulative[k] += cumulative[k - 1];
      if (!(cumulative.back() > rounding_power(signals, c))) continue;
      for (std::size_t i = 0; i < m; ++i) {
        const std::uint64_t element = 2 * (c * m + i);
        const double place =
            invert_cumulative(cumulative, last_width, random.uniform(element)) + 0.5;
        const double sign = random.uniform(element + 1) < 0.5 ? -1 : 1;
        frequencies(i, c) = real(sign * place * bin);
      }
    }
  });
  return frequencies;
}

std::vector<double> wave_powers(const std::vector<double>& x, const std::vector<double>& y,
                                double step, std::size_t count) {
  std::vector<double> powers(count);
  parallel_for(count, frequencies_per_task, [&](std::size_t begin, std::size_t end) {
    RotatingWaves waves(x, step, begin + 1);
    for (std::size_t k = begin; k < end; ++k) {
      if (k > begin) waves.advance();
      powers[k] = explained(waves.cosine, waves.sine, y);
    }
  });
  return powers;
}

}  // namespace bochner::inline BOCHNER_PRECISION
