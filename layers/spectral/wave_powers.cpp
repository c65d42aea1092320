#include <bochner/base/numeric/parallel.hpp>
#include <bochner/layers/spectral/wave_powers.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

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
