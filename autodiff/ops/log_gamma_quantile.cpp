#include <bochner/autodiff/compute/parallel.hpp>
#include <bochner/autodiff/compute/quantile_functions.hpp>
#include <bochner/autodiff/ops/broadcast.hpp>
#include <bochner/autodiff/ops/learned_quantiles.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Quantiles that are worth a task: a few microseconds each.
constexpr std::size_t quantile_grain = 64;

}  // namespace

Var log_gamma_quantile(const Var& shape, const Tensor& score) {
  require(broadcast_shape("log_gamma_quantile", shape.shape(), score.shape()) == score.shape(),
          "log_gamma_quantile", "the shape must broadcast to the score: shape ", shape.shape(),
          ", score ", score.shape());
  const auto repeated = [](real a, real) { return a; };
  Tensor y = map(score.shape(), repeated, shape.value(), score), slope = y;
  parallel_for(y.size(), quantile_grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const double a = y.data()[i], z = score.data()[i];
      const double value = quantile::log_gamma(a, z);
      y.data()[i] = real(value);
      slope.data()[i] = real(quantile::log_gamma_slope(a, z, value));
    }
  });
  return record("log_gamma_quantile", std::move(y), {shape},
                [shape = shape.gradient_only(), slope = std::move(slope)](Tensor& g) {
                  shape.add_gradient(g * slope);
                });
}

}  // namespace bochner::inline BOCHNER_PRECISION
