#pragma once
/// Compares densities with closed forms: means over draws in standard errors, integrals by sums.

#include <bochner/layers/spectral/density.hpp>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace density_check {

using namespace layer_check;

/// Makes a density with iid draws and moved parameters.
inline std::unique_ptr<SpectralDensity> random_density(const std::string& kind, std::size_t d,
                                                       std::size_t m, double temperature = 0) {
  DensitySpec spec;
  spec.kind = kind, spec.draws = "iid", spec.heads = 2, spec.m = m, spec.dim = d;
  spec.components = 3, spec.temperature = temperature;
  spec.layers = kind == "flow" && d > 1 ? 2 : 0;
  auto density = make_density(spec);
  randomize(*density, 0.4);
  return density;
}

/// Returns the frequencies of one head, in double.
inline std::vector<double> draws_of(SpectralDensity& density, std::size_t head) {
  Tape tape({.recording = false});
  const Tensor w = density.draws(tape).value();
  const std::size_t size = w.shape()[1] * w.shape()[2];
  return std::vector<double>(w.data() + head * size, w.data() + (head + 1) * size);
}

/// Expects the mean of f over points of R^d to be `expected`, to five standard errors.
inline void expect_mean(const std::vector<double>& points, std::size_t d, const PointFunction& f,
                        double expected, const std::string& what) {
  double sum = 0, square = 0;
  const double n = double(points.size() / d);
  for (std::size_t i = 0; i < points.size(); i += d) {
    const double y = f(points.data() + i);
    sum += y, square += y * y;
  }
  const double mean = sum / n, error = std::sqrt((square / n - mean * mean) / n);
  EXPECT_NEAR(mean, expected, 5 * error + (is_double ? 1e-9 : 1e-5)) << what;
}

inline double cosine(const double* w, const std::vector<double>& lag) {
  double phase = 0;
  for (std::size_t j = 0; j < lag.size(); ++j) phase += w[j] * lag[j];
  return std::cos(phase);
}

/// Returns four lags of growing length.
inline std::vector<std::vector<double>> lags(std::size_t d) {
  std::vector<std::vector<double>> all;
  for (std::size_t i = 0; i < 4; ++i) {
    const Tensor direction = random_tensor({d}, 20 + i);
    std::vector<double> lag;
    for (real x : direction) lag.push_back(0.4 * double(i + 1) * double(x));
    all.push_back(lag);
  }
  return all;
}

/// Returns the integral of f over the line by the midpoint rule after omega = sinh t, for any
/// tails.
inline double integral(const std::function<double(double)>& f, double reach = 25) {
  const std::size_t cells = 400000;
  const double width = 2 * reach / double(cells);
  double sum = 0;
  for (std::size_t i = 0; i < cells; ++i) {
    const double t = -reach + (double(i) + 0.5) * width;
    sum += f(std::sinh(t)) * std::cosh(t) * width;
  }
  return sum;
}

}  // namespace density_check
}  // namespace bochner::inline BOCHNER_PRECISION
