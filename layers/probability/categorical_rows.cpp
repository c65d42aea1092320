#include <algorithm>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/autodiff/ops/normalisation.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/layers/probability/categorical_rows.hpp>
#include <cmath>
#include <numbers>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

double gumbel_quantile(double score) {
  return -std::log(-std::log1p(-std::erfc(score / std::numbers::sqrt2) / 2));
}

}  // namespace

Tensor gumbel(const Tensor& scores) {
  Tensor y = uninitialized(scores.shape());
  for (std::size_t i = 0; i < y.size(); ++i)
    y.data()[i] = real(gumbel_quantile(double(scores.data()[i])));
  return y;
}

Tensor one_hot_max(const Tensor& x) {
  const std::size_t K = x.shape().back();
  Tensor chosen = zeros(x.shape());
  for (std::size_t row = 0; row < x.size(); row += K)
    chosen.data()[row + std::size_t(std::max_element(x.data() + row, x.data() + row + K) -
                                    (x.data() + row))] = 1;
  return chosen;
}

Var kl_divergence(const CategoricalRows& q) {
  const Var log_q = log_softmax(q.logits);
  return sum(exp(log_q) * log_q, -1) + std::log(double(q.logits.dim(-1)));
}

Var relaxed_points(const CategoricalRows& q, const Tensor& noise, double temperature) {
  require(temperature > 0, "relaxed_points", "temperature = ", temperature, ": must be above 0");
  return softmax((q.logits + Var(gumbel(noise))) / temperature);
}

Tensor points(const CategoricalRows& q, const Tensor& noise) {
  return one_hot_max((Var(q.logits.value()) + Var(gumbel(noise))).value());
}

Var straight_through(const Var& x) {
  return Var(one_hot_max(x.value())) + (x - Var(x.value()));  // the difference is 0
}

std::size_t count_categories(std::size_t N, std::size_t K, std::size_t most) {
  std::size_t count = 1;
  for (std::size_t v = 0; v < N && count <= most; ++v) count = std::min(count * K, most + 1);
  return count;
}

Tensor all_categories(std::size_t N, std::size_t K) {
  constexpr std::size_t most = 1 << 16;
  const std::size_t count = count_categories(N, K, most);
  require(count <= most, "all_categories", N, " variables of ", K, " categories have more than ",
          most, " values");
  Tensor values = zeros({count, N * K});
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t rest = i;
    for (std::size_t v = N; v-- > 0; rest /= K) values.data()[(i * N + v) * K + rest % K] = 1;
  }
  return values;
}

Var log_probabilities(const CategoricalRows& q, const Tensor& values) {
  const Shape flat{q.logits.dim(0), q.logits.dim(1) * q.logits.dim(2)};
  return matmul_nt(Var(values), reshape(log_softmax(q.logits), flat));
}

}  // namespace bochner::inline BOCHNER_PRECISION
