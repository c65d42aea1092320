#include <bochner/layers/features/moments.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {

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

SampleMoments::SampleMoments(const std::vector<double>& points, std::size_t dim)
    : d(dim), second(dim * dim), mean(dim) {
  const double n = double(points.size() / d);
  for (std::size_t s = 0; s < points.size(); s += d) {
    for (std::size_t i = 0; i < d; ++i) {
      mean[i] += points[s + i] / n;
      for (std::size_t j = 0; j < d; ++j) second[i * d + j] += points[s + i] * points[s + j] / n;
    }
  }
}

double SampleMoments::square() const {
  double sum = 0;
  for (std::size_t i = 0; i < d; ++i) sum += second[i * d + i];
  return sum;
}

Matrix transposed(const Matrix& a, std::size_t n) {
  Matrix t(n * n);
  for (std::size_t i = 0; i < n * n; ++i) t[i % n * n + i / n] = a[i];
  return t;
}

}  // namespace bochner::inline BOCHNER_PRECISION
