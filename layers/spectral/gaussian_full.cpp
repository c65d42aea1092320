#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/layers/spectral/densities.hpp>
#include <bochner/layers/spectral/point.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// (d, d): ones where `wanted(row, column)`.
template <class Wanted>
Tensor mask(std::size_t d, const Wanted& wanted) {
  Tensor ones = zeros({d, d});
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = 0; j < d; ++j) ones(i, j) = real(wanted(i, j));
  }
  return ones;
}

/// (H, d, d): these diagonals and zeros.
Tensor diagonal_factor(std::size_t H, const std::vector<double>& log_scale) {
  const std::size_t d = log_scale.size();
  Tensor factor = zeros({H, d, d});
  for (std::size_t h = 0; h < H; ++h) {
    for (std::size_t j = 0; j < d; ++j) factor(h, j, j) = real(log_scale[j]);
  }
  return factor;
}

}  // namespace

FullGaussianDensity::FullGaussianDensity(const DensitySpec& spec)
    : SpectralDensity(spec),
      mean_({spec.heads, 1, spec.dim}),
      factor_(diagonal_factor(spec.heads, std::vector<double>(spec.dim, spec.log_scale))) {}

void FullGaussianDensity::set_log_scale(const std::vector<double>& log_scale) {
  factor_.value() = diagonal_factor(factor_.shape()[0], log_scale);
}

Var FullGaussianDensity::sample(Tape& tape, const Var& noise) {
  const std::size_t d = noise.dim(-1);
  const Var factor = tape(factor_), diagonal = tape.constant(mask(d, std::equal_to<>()));
  const Var below = tape.constant(mask(d, std::greater<>()));
  return tape(mean_) + matmul_nt(noise, factor * below + exp(factor * diagonal) * diagonal);
}

void FullGaussianDensity::visit(Visitor& visitor) {
  visitor("mean", mean_);
  visitor("factor", factor_);
  SpectralDensity::visit(visitor);
}

struct FullGaussianDensity::Snapshot {
  std::size_t d;
  std::vector<double> mean, factor;  // (d), (d, d)
  double log_volume = 0;
};

FullGaussianDensity::Snapshot FullGaussianDensity::snapshot(std::size_t head) const {
  const std::size_t d = mean_.shape()[2];
  const real *mean = mean_.value().data() + head * d, *L = factor_.value().data() + head * d * d;
  Snapshot now{d, std::vector<double>(mean, mean + d), std::vector<double>(L, L + d * d)};
  for (std::size_t j = 0; j < d; ++j) {
    double& diagonal = now.factor[j * d + j];
    now.log_volume += diagonal;
    diagonal = std::exp(diagonal);
  }
  return now;
}

PointFunction FullGaussianDensity::kernel(std::size_t head) {
  return [now = snapshot(head)](const double* lag) {
    double phase = 0, square = 0;
    for (std::size_t j = 0; j < now.d; ++j) {
      phase += now.mean[j] * lag[j];
      double turned = 0;  // (L^T lag)_j
      for (std::size_t i = j; i < now.d; ++i) turned += now.factor[i * now.d + j] * lag[i];
      square += turned * turned;
    }
    return std::cos(phase) * std::exp(-square / 2);
  };
}

PointFunction FullGaussianDensity::log_density(std::size_t head) {
  return [now = snapshot(head)](const double* w) {
    std::vector<double> z(now.d);  // L z = w - mean, by forward substitution
    for (std::size_t i = 0; i < now.d; ++i) {
      z[i] = w[i] - now.mean[i];
      for (std::size_t j = 0; j < i; ++j) z[i] -= now.factor[i * now.d + j] * z[j];
      z[i] /= now.factor[i * now.d + i];
    }
    return log_normal_density(now.d, squared_length(z.data(), now.d)) - now.log_volume;
  };
}

std::optional<double> FullGaussianDensity::entropy(std::size_t head) {
  const Snapshot now = snapshot(head);
  return normal_entropy(now.d) + now.log_volume;
}

}  // namespace bochner::inline BOCHNER_PRECISION
