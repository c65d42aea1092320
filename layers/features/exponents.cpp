#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/features/exponents.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {

Var softmax_scaled(const Var& x) { return x * std::pow(double(x.dim(-1)), -0.25); }

std::vector<double> scaled_samples(const Tensor& samples, std::size_t head, std::size_t d) {
  require(samples.dimension() == 3 && samples.shape()[0] > 0 && samples.shape()[1] > head &&
              samples.shape()[2] == d,
          "calibrate", "samples must be (n, H, ", d, "), n > 0, not ", samples.shape());
  const std::size_t stride = samples.shape()[1] * d;
  const double scale = std::pow(double(d), -0.25);
  std::vector<double> points(samples.shape()[0] * d);
  for (std::size_t i = 0; i < points.size(); ++i)
    points[i] = scale * double(samples.data()[i / d * stride + head * d + i % d]);
  return points;
}

Var exponents(const Var& x, const Var& w, double c, const Var& offset) {
  return exponential(x, w, c, offset).values();
}

Features exponential(const Var& x, const Var& w, double c, const Var& offset) {
  const double scale = std::pow(double(x.dim(-1)), -0.25);
  Features features = exponential_features(x, scale * w, real(c * scale * scale), offset);
  features.log_factor = real(-std::log(double(w.dim(1))) / 2);
  return features;
}

}  // namespace bochner::inline BOCHNER_PRECISION
