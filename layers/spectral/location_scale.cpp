#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/spectral/densities.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Computes y = f(x) per element in double, with the derivative f'(x).
template <class Function, class Slope>
Var elementwise(const char* name, const Var& x, const Function& f, const Slope& slope) {
  Tensor y = uninitialized(x.shape());
  for (std::size_t i = 0; i < y.size(); ++i) y.data()[i] = real(f(double(x.data()[i])));
  return record(name, std::move(y), {x}, [x, slope](Tensor& gradient) {
    for (std::size_t i = 0; i < gradient.size(); ++i)
      gradient.data()[i] *= real(slope(double(x.data()[i])));
    x.add_gradient(gradient);
  });
}

}  // namespace

LocationScaleDensity::LocationScaleDensity(const DensitySpec& spec, std::size_t auxiliary)
    : SpectralDensity(spec, auxiliary),
      mean_({spec.heads, 1, spec.dim}),
      log_scale_(filled({spec.heads, 1, spec.dim}, real(spec.log_scale))) {}

Var LocationScaleDensity::sample(Tape& tape, const Var& noise) {
  return tape(mean_) + exp(tape(log_scale_)) * standardized(tape, noise);
}

void LocationScaleDensity::set_log_scale(const std::vector<double>& log_scale) {
  for (std::size_t i = 0; i < log_scale_.value().size(); ++i)
    log_scale_.value().data()[i] = real(log_scale[i]);
}

void LocationScaleDensity::visit(Visitor& visitor) {
  visitor("mean", mean_);
  visitor("log_scale", log_scale_);
  SpectralDensity::visit(visitor);
}

PointFunction LocationScaleDensity::kernel(std::size_t head) {
  const Characteristic standard = standard_characteristic(head);
  if (!standard) return {};
  return [=, mean = values_of(mean_, head),
          log_scale = values_of(log_scale_, head)](const double* lag) {
    std::vector<double> scaled(mean.size());
    double phase = 0;
    for (std::size_t j = 0; j < scaled.size(); ++j) {
      scaled[j] = std::exp(log_scale[j]) * lag[j];
      phase += mean[j] * lag[j];
    }
    return (std::polar(1.0, phase) * standard(scaled.data())).real();
  };
}

PointFunction LocationScaleDensity::log_density(std::size_t head) {
  const PointFunction standard = standard_log_density(head);
  if (!standard) return {};
  return
      [=, mean = values_of(mean_, head), log_scale = values_of(log_scale_, head)](const double* w) {
        std::vector<double> s(mean.size());
        double log_volume = 0;
        for (std::size_t j = 0; j < s.size(); ++j) {
          s[j] = (w[j] - mean[j]) * std::exp(-log_scale[j]);
          log_volume += log_scale[j];
        }
        return standard(s.data()) - log_volume;
      };
}

PointFunction LocationScaleDensity::log_marginal(std::size_t head, std::size_t coordinate) {
  const PointFunction standard = standard_log_marginal(head, coordinate);
  if (!standard) return {};
  return [=, mean = values_of(mean_, head)[coordinate],
          log_scale = values_of(log_scale_, head)[coordinate]](const double* w) {
    const double s = (*w - mean) * std::exp(-log_scale);
    return standard(&s) - log_scale;
  };
}

GaussianAxes LocationScaleDensity::axes(std::size_t head) const {
  return {values_of(mean_, head), values_of(log_scale_, head)};
}

Var LocationScaleDensity::log_densities(Tape& tape, const Var& points) {
  const Var log_scale = tape(log_scale_);
  const Var s = (points - tape(mean_)) * exp(-log_scale);
  const Var logs = standard_log_densities(tape, s) - sum(log_scale, -1, keep);
  return reshape(logs, {points.dim(0), points.dim(1)});
}

std::optional<double> LocationScaleDensity::entropy(std::size_t head) {
  std::optional<double> entropy = standard_entropy(head);
  if (!entropy) return {};
  for (double log_scale : values_of(log_scale_, head)) *entropy += log_scale;
  return entropy;
}

Var log_normal_densities(const Var& x) {
  return sum(square(x), -1, keep) * -0.5 + log_normal_density(x.dim(-1), 0);
}

Var squared_radii(const Var& s) {
  return maximum(sum(square(s), -1, keep), Var(filled({}, real(min_square))));
}

Var by_shape(const char* name, const Var& x, const Var& shape,
             const std::function<ShapedFunction(double shape)>& f) {
  const std::size_t H = shape.size(), n = x.size() / H;
  Tensor y = uninitialized(x.shape());
  for (std::size_t i = 0; i < y.size(); i += n)
    std::transform(x.data() + i, x.data() + i + n, y.data() + i,
                   [of = f(double(shape.data()[i / n]))](real u) { return real(of(u).value); });
  return record(name, std::move(y), {x, shape}, [=](Tensor& gradient) {
    Tensor by_shape_gradient = zeros(shape.shape());
    for (std::size_t h = 0; h < H; ++h) {
      const ShapedFunction of = f(double(shape.data()[h]));
      double sum = 0;
      for (std::size_t i = h * n; i < (h + 1) * n; ++i) {
        const ShapedValue at = of(double(x.data()[i]));
        sum += double(gradient.data()[i]) * at.by_shape;
        gradient.data()[i] = real(double(gradient.data()[i]) * at.by_x);
      }
      by_shape_gradient.data()[h] = real(sum);
    }
    if (x.needs_gradient()) x.add_gradient(std::move(gradient));
    if (shape.needs_gradient()) shape.add_gradient(std::move(by_shape_gradient));
  });
}

Var log_bessel_k_function(double order, const Var& x) {
  const auto slope = [order](double t) {  // K_v' = -K_(v-1) - v K_v / t
    return -std::exp(log_bessel_k(std::abs(order - 1), t) - log_bessel_k(order, t)) - order / t;
  };
  return elementwise(
      "log_bessel_k_function", x, [order](double t) { return log_bessel_k(order, t); }, slope);
}

}  // namespace bochner::inline BOCHNER_PRECISION
