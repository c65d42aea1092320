#include <bochner/autodiff/compute/math.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/layers/probability/normal_rows.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Each draw's reward above the mean of the other draws of its row. (K, B) -> (K, B)
Tensor above_the_others(const Tensor& rewards) {
  const std::size_t K = rewards.shape()[0], B = rewards.shape()[1];
  Tensor above = uninitialized(rewards.shape());
  for (std::size_t b = 0; b < B; ++b) {
    double sum = 0;
    for (std::size_t k = 0; k < K; ++k) sum += double(rewards.data()[k * B + b]);
    for (std::size_t k = 0; k < K; ++k) {
      const double own = double(rewards.data()[k * B + b]);
      above.data()[k * B + b] = real(own - (sum - own) / double(K - 1));
    }
  }
  return above;
}

}  // namespace

Var kl_divergence(const NormalRows& q) {
  return (square(q.mean) + exp(q.log_variance) - q.log_variance - 1) * 0.5;
}

Var points(const NormalRows& q, const Tensor& noise) {
  return q.mean + exp(q.log_variance * 0.5) * Var(noise);
}

Var log_density(const NormalRows& q, const Tensor& z) {
  const Var squares = square(Var(z) - q.mean) * exp(-q.log_variance);
  return sum(squares + q.log_variance + log_two_pi, -1) * -0.5;
}

Var score_term(const Var& log_density, const Tensor& rewards) {
  require(
      rewards.dimension() == 2 && rewards.shape()[0] > 1 && rewards.shape() == log_density.shape(),
      "score_term",
      "wants log densities and rewards of at least two draws (K, B): ", log_density.shape(), ", ",
      rewards.shape());
  const Var change = log_density - Var(log_density.value());
  return mean(change * Var(above_the_others(rewards)));
}

}  // namespace bochner::inline BOCHNER_PRECISION
