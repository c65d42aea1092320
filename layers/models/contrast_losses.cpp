#include <algorithm>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/autodiff/ops/loss.hpp>
#include <bochner/autodiff/ops/normalisation.hpp>
#include <bochner/layers/models/contrast_losses.hpp>
#include <cmath>
#include <limits>

namespace bochner::inline BOCHNER_PRECISION {

namespace {

/// Divides rows whose squares would overflow by powers of two.
Var scaled_rows(const Var& x) {
  const std::size_t D = x.dim(-1), rows = D > 0 ? x.size() / D : 0;
  const real limit = std::sqrt(std::numeric_limits<real>::max() / real(D));
  Shape shape = x.shape();
  shape.back() = 1;
  Tensor scale = filled(shape, real(1));
  bool any = false;
  for (std::size_t row = 0; row < rows; ++row) {
    real largest = 0;
    for (std::size_t i = 0; i < D; ++i)
      largest = std::max(largest, std::abs(x.data()[row * D + i]));
    if (!(largest >= limit) || !std::isfinite(largest)) continue;
    scale.data()[row] = std::ldexp(real(1), -std::ilogb(largest));
    any = true;
  }
  return any ? x * Var(std::move(scale)) : x;
}

}  // namespace

Var unit_rows(const Var& x) {
  const std::size_t D = x.dim(-1);
  return rms_norm(scaled_rows(x), Var(filled({D}, real(1 / std::sqrt(double(D))))), real(1e-12));
}

Var view_similarities(const Var& views, double temperature) {
  require(std::isfinite(temperature) && temperature > 0, "contrast", "temperature = ", temperature,
          " must be finite and above 0");
  const std::size_t n = views.dim(0);
  Tensor diagonal = zeros({n, n});
  for (std::size_t i = 0; i < n; ++i) diagonal(i, i) = real(-1e9);
  return matmul_nt(views, views) * (1 / temperature) + Var(std::move(diagonal));
}

Indices partners(std::size_t B) {
  Indices others{{2 * B}, {}};
  for (std::size_t i = 0; i < 2 * B; ++i) others.values.push_back(std::int32_t((i + B) % (2 * B)));
  return others;
}

Var info_nce(const Var& views, double temperature) {
  require(views.rank() == 2 && views.dim(0) % 2 == 0 && views.dim(0) > 0, "info_nce",
          "views must be (2 B, E), not ", views.shape());
  return cross_entropy(view_similarities(views, temperature), partners(views.dim(0) / 2));
}

Var prototype_nce(const Var& views, const Tensor& centres, const Tensor& concentrations,
                  const Indices& labels) {
  require(views.rank() == 2 && centres.dimension() == 2 && views.dim(1) == centres.shape()[1] &&
              concentrations.size() == centres.shape()[0],
          "prototype_nce", "sizes differ: views ", views.shape(), ", centres ", centres.shape(),
          ", concentrations ", concentrations.shape());
  const std::size_t K = centres.shape()[0], E = centres.shape()[1];
  Tensor scaled = uninitialized({K, E});
  for (std::size_t i = 0; i < K * E; ++i)
    scaled.data()[i] = centres.data()[i] / concentrations.data()[i / E];
  return cross_entropy(matmul_nt(views, Var(std::move(scaled))), labels);
}

}  // namespace bochner::inline BOCHNER_PRECISION
