#include <bochner/autodiff/ops.hpp>

#include "autodiff/op_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace attention_floor_test {

using namespace op_check;

constexpr real decay_rate = real(0.3), lowest_sum = real(0.4);

/// Returns 1 for the pairs that attention sees, and their lags. (T, T)
Tensor seen(std::size_t T, bool causal) {
  Tensor x = zeros({T, T});
  for (std::size_t i = 0; i < T * T; ++i) x.data()[i] = real(!causal || i % T <= i / T);
  return x;
}
Tensor lags(std::size_t T) {
  Tensor x = zeros({T, T});
  for (std::size_t i = 0; i < T * T; ++i) x.data()[i] = real(i / T) - real(i % T);
  return x;
}

/// All pairs of one head: (1, T, 1, F) twice, (1, T, 1, d), rate if causal -> (1, T, 1, d)
Var all_pairs(const std::vector<Var>& x, bool causal) {
  const Var &q = x[0], &k = x[1], &v = x[2];
  const std::size_t T = q.dim(1), F = q.dim(3), d = v.dim(3);
  Var weights = matmul_nt(reshape(q, {T, F}), reshape(k, {T, F})) * Var(seen(T, causal));
  if (causal) weights = weights * exp(Var(lags(T)) * -x[3]);
  const Var sums = maximum(sum(weights, -1, keep), Var(filled({}, lowest_sum)));
  return reshape(matmul(weights, reshape(v, {T, d})) / sums, v.shape());
}

Op floor_op(bool causal, std::size_t chunk) {
  return [=](Tape&, const std::vector<Var>& x) {
    return linear_attention(x[0], x[1], x[2], causal ? x[3] : Var(),
                            {causal, chunk, {}, lowest_sum});
  };
}

TEST(LinearAttention, RaisesSumsOfSignedFeaturesToTheFloor) {
  const std::size_t T = 21;
  for (bool causal : {true, false}) {
    std::vector<Tensor> in = {random_tensor({1, T, 1, 4}, 1), random_tensor({1, T, 1, 4}, 2),
                              random_tensor({1, T, 1, 3}, 3)};
    if (causal) in.push_back(filled({1}, decay_rate));
    const auto expected = value_and_gradients(
        [=](Tape&, const std::vector<Var>& x) { return all_pairs(x, causal); }, in);
    for (std::size_t chunk : {1, 4, 64}) {
      const auto results = value_and_gradients(floor_op(causal, chunk), in);
      for (std::size_t i = 0; i < results.size(); ++i)
        expect_near(results[i], expected[i], 50 * tolerance);
    }
    if (is_double) check_op(floor_op(causal, 4), in);  // steps in float cross the floor
  }
}

TEST(LinearAttention, StepsRaiseTheSameSums) {
  const std::size_t T = 12;
  const Tensor q = random_tensor({1, T, 1, 4}, 1), k = random_tensor({1, T, 1, 4}, 2),
               v = random_tensor({1, T, 1, 3}, 3), rate = filled({1}, decay_rate);
  const Tensor batch = value_of(floor_op(true, 5), {q, k, v, rate});
  LinearAttentionState state(1, 4, 3);
  const auto row = [](const Tensor& x, std::size_t t, std::size_t n) {
    Tensor token = uninitialized({1, 1, 1, n});
    std::copy_n(x.data() + t * n, n, token.data());
    return token;
  };
  for (std::size_t t = 0; t < T; ++t) {
    const Tensor y = linear_attention_step(state, Var(row(q, t, 4)), Var(row(k, t, 4)),
                                           row(v, t, 3), &rate, lowest_sum);
    expect_near(y, row(batch, t, 3), 50 * tolerance);
  }
}

TEST(LinearAttention, HasNoFloorForLogarithms) {
  const Tensor x = zeros({1, 2, 1, 3});
  EXPECT_EQ(error_of([&] {
              linear_attention(from_logarithms(x), from_logarithms(x), x, {},
                               {.floor = lowest_sum});
            }),
            "[linear_attention] a floor needs linear features: logarithms have no fixed unit");
}

}  // namespace attention_floor_test
}  // namespace bochner::inline BOCHNER_PRECISION
