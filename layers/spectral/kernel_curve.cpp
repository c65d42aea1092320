#include <algorithm>
#include <array>
#include <bochner/autodiff/compute/softmax.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/layers/spectral/closed_forms.hpp>
#include <bochner/layers/spectral/kernel_curve.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Point of the shape c(t) of a kernel of unit scale, t >= 0, c(0) = 1.
struct ShapePoint {
  double value, slope;  ///< c and t c'(t)
  double by_shape = 0;  ///< dc by the shape parameter
};

/// Returns Lagrange's weights of the nodes -3, .., 4 at 0 <= u < 1.
std::array<double, 8> node_weights(double u) {
  constexpr double reciprocals[8] = {-1.0 / 5040, 1.0 / 720, -1.0 / 240, 1.0 / 144,
                                     -1.0 / 144,  1.0 / 240, -1.0 / 720, 1.0 / 5040};
  std::array<double, 8> weights;
  double before = 1, after = 1;
  for (std::size_t j = 0; j < 8; before *= u + 3 - double(j++))
    weights[j] = reciprocals[j] * before;
  for (std::size_t j = 8; j-- > 0; after *= u + 3 - double(j)) weights[j] *= after;
  return weights;
}

/// Matern shape, from a table over ln t.
class StudentShape {
 public:
  StudentShape(double min_degrees, double log_excess) {
    const double degrees = min_degrees + std::exp(log_excess);
    first_ = -40 / std::min(degrees, 2.0) - 1;  // 1 - c is below 1e-17
    // Ends where c < 1e-100: about exp(-t sqrt(degrees)), or exp(-t^2 / 2) for many degrees.
    const double last = std::log(std::max(745 / std::sqrt(degrees), 38.0));
    points_.resize(std::size_t((last - first_) * per_unit) + 8);
    constexpr double step = 1e-4;
    parallel_each(points_.size(), 16, [&](std::size_t i) {
      const double t = std::exp(first_ + double(i) / per_unit);
      const auto at = [&](double x) { return value_at(min_degrees + std::exp(x), t); };
      points_[i] = {at(log_excess), slope_at(degrees, t),
                    (at(log_excess + step) - at(log_excess - step)) / (2 * step)};
    });
  }

  ShapePoint operator()(double t) const {
    const double place = (std::log(t) - first_) * per_unit;
    if (!(place >= 3)) return {1, 0, 0};
    if (place >= double(points_.size() - 4)) return {0, 0, 0};
    const auto i = std::size_t(place);
    const std::array<double, 8> weights = node_weights(place - double(i));
    ShapePoint result{0, 0, 0};
    for (std::size_t j = 0; j < 8; ++j) {
      const ShapePoint& point = points_[i + j - 3];
      result.value += weights[j] * point.value;
      result.slope += weights[j] * point.slope;
      result.by_shape += weights[j] * point.by_shape;
    }
    return result;
  }

 private:
  static constexpr double per_unit = 64;

  static double value_at(double degrees, double t) {
    return matern(degrees / 2, std::sqrt(degrees) * t);
  }
  /// Returns x c'(x) by (x^a K_a)' = -x^a K_{a-1}: a Matern kernel, unless the order is near 0.
  static double slope_at(double degrees, double t) {
    const double a = degrees / 2, x = std::sqrt(degrees) * t;
    if (a > 1.5) return -x * x / (2 * (a - 1)) * matern(a - 1, x);
    const double log_k = log_bessel_k(std::abs(a - 1), x);
    return -std::exp((1 - a) * std::numbers::ln2 - std::lgamma(a) + (a + 1) * std::log(x) + log_k);
  }

  double first_;
  std::vector<ShapePoint> points_;
};

/// Computes cos(mean lag) c(exp(log_scale) |lag|).
template <class Shape>
class ShiftedCurve : public KernelCurve {
 public:
  ShiftedCurve(double mean, double log_scale, Shape shape)
      : mean_(mean), scale_(std::exp(log_scale)), shape_(std::move(shape)) {}

  std::size_t parameters() const override { return shape_parameters + 2; }

  void values(std::size_t n, const double* lags, double* k) const override {
    for (std::size_t i = 0; i < n; ++i) k[i] = shape_(scale_ * std::abs(lags[i])).value;
    if (mean_ == 0) return;
    for (std::size_t i = 0; i < n; ++i) k[i] *= std::cos(mean_ * lags[i]);
  }

  void pull_back(std::size_t n, const double* lags, const double* weights,
                 double* slopes) const override {
    double by_shape = 0, by_mean = 0, by_log_scale = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const ShapePoint c = shape_(scale_ * std::abs(lags[i]));
      double modulated = weights[i];
      if (mean_ != 0) {
        modulated *= std::cos(mean_ * lags[i]);
        by_mean -= weights[i] * c.value * lags[i] * std::sin(mean_ * lags[i]);
      }
      by_log_scale += modulated * c.slope;
      by_shape += modulated * c.by_shape;
    }
    if (shape_parameters == 1) slopes[0] += by_shape;
    slopes[shape_parameters] += by_mean;
    slopes[shape_parameters + 1] += by_log_scale;
  }

 private:
  static constexpr std::size_t shape_parameters = std::is_same_v<Shape, StudentShape>;
  double mean_, scale_;
  Shape shape_;
};

class MixtureCurve : public KernelCurve {
 public:
  MixtureCurve(std::vector<double> mean, std::vector<double> log_scale, std::vector<double> logits)
      : mean_(std::move(mean)), scale_(std::move(log_scale)), weight_(std::move(logits)) {
    for (double& scale : scale_) scale = std::exp(scale);
    to_softmax(weight_);
  }

  std::size_t parameters() const override { return 3 * mean_.size(); }

  void values(std::size_t n, const double* lags, double* k) const override {
    std::fill_n(k, n, 0.0);
    for (std::size_t c = 0; c < mean_.size(); ++c)
      for (std::size_t i = 0; i < n; ++i) {
        const double t = scale_[c] * lags[i];
        k[i] += weight_[c] * std::exp(-t * t / 2) * std::cos(mean_[c] * lags[i]);
      }
  }

  void pull_back(std::size_t n, const double* lags, const double* weights,
                 double* slopes) const override {
    const std::size_t K = mean_.size();
    std::vector<double> by_component(K);
    for (std::size_t c = 0; c < K; ++c) {
      double by_mean = 0, by_log_scale = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const double t = scale_[c] * lags[i], phase = mean_[c] * lags[i];
        const double decay = weights[i] * std::exp(-t * t / 2), modulated = decay * std::cos(phase);
        by_component[c] += modulated;
        by_mean -= decay * lags[i] * std::sin(phase);
        by_log_scale -= modulated * t * t;
      }
      slopes[c] += weight_[c] * by_mean;
      slopes[K + c] += weight_[c] * by_log_scale;
    }
    double mean = 0;
    for (std::size_t c = 0; c < K; ++c) mean += weight_[c] * by_component[c];
    for (std::size_t c = 0; c < K; ++c) slopes[2 * K + c] += weight_[c] * (by_component[c] - mean);
  }

 private:
  std::vector<double> mean_, scale_, weight_;
};

class CosineCurve : public KernelCurve {
 public:
  explicit CosineCurve(std::vector<double> frequencies) : frequencies_(std::move(frequencies)) {}

  std::size_t parameters() const override { return frequencies_.size(); }

  void values(std::size_t n, const double* lags, double* k) const override {
    std::fill_n(k, n, 0.0);
    for (const double frequency : frequencies_)
      for (std::size_t i = 0; i < n; ++i) k[i] += std::cos(frequency * lags[i]);
    for (std::size_t i = 0; i < n; ++i) k[i] /= double(frequencies_.size());
  }

  void pull_back(std::size_t n, const double* lags, const double* weights,
                 double* slopes) const override {
    for (std::size_t f = 0; f < frequencies_.size(); ++f) {
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i)
        sum -= weights[i] * lags[i] * std::sin(frequencies_[f] * lags[i]);
      slopes[f] += sum / double(frequencies_.size());
    }
  }

 private:
  std::vector<double> frequencies_;
};

template <class Shape>
std::unique_ptr<KernelCurve> shifted_curve(double mean, double log_scale, Shape shape) {
  return std::make_unique<ShiftedCurve<Shape>>(mean, log_scale, std::move(shape));
}

}  // namespace

std::unique_ptr<KernelCurve> gaussian_curve(double mean, double log_scale) {
  return shifted_curve(mean, log_scale, [](double t) {
    const double value = std::exp(-t * t / 2);
    return ShapePoint{value, -t * t * value};
  });
}
std::unique_ptr<KernelCurve> laplace_curve(double mean, double log_scale) {
  return shifted_curve(mean, log_scale, [](double t) {
    const double value = 1 / (1 + t * t / 2);
    return ShapePoint{value, -t * t * value * value};
  });
}
std::unique_ptr<KernelCurve> cauchy_curve(double mean, double log_scale) {
  return shifted_curve(mean, log_scale, [](double t) {
    const double value = std::exp(-t);
    return ShapePoint{value, -t * value};
  });
}
std::unique_ptr<KernelCurve> student_curve(double min_degrees, double log_excess, double mean,
                                           double log_scale) {
  return shifted_curve(mean, log_scale, StudentShape(min_degrees, log_excess));
}
std::unique_ptr<KernelCurve> mixture_curve(std::vector<double> mean, std::vector<double> log_scale,
                                           std::vector<double> logits) {
  return std::make_unique<MixtureCurve>(std::move(mean), std::move(log_scale), std::move(logits));
}
std::unique_ptr<KernelCurve> cosine_curve(std::vector<double> frequencies) {
  return std::make_unique<CosineCurve>(std::move(frequencies));
}

}  // namespace bochner::inline BOCHNER_PRECISION
