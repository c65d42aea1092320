#include <bit>
#include <bochner/autodiff/ops/attention/log_linear_attention.hpp>

#include "autodiff/attention_reference.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace log_linear_attention_test {

using namespace attention_reference;

Op log_linear_op(const LogLinearOptions& options) {
  return [=](Tape&, const std::vector<Var>& x) {
    return log_linear_attention(x[0], x[1], x[2], x[3], x.size() > 4 ? x[4] : Var(), options);
  };
}

/// Returns q, k, v, weights, and rates of that rank, if not 0.
std::vector<Tensor> log_linear_inputs(const Shape& sizes, std::size_t F, std::size_t L,
                                      std::size_t rate_rank) {
  const Shape tokens{sizes[0], sizes[1], sizes[2]};
  Shape features = tokens, levels = tokens;
  features.push_back(F), levels.push_back(L);
  std::vector<Tensor> in{random_tensor(features, 1), random_tensor(features, 2),
                         random_tensor(sizes, 3), random_tensor(levels, 4)};
  if (rate_rank == 0) return in;
  in.push_back(random_tensor(rate_rank == 1 ? Shape{sizes[2]} : tokens, 5));
  for (real& rate : in.back()) rate = real(0.3) * rate * rate;
  return in;
}

/// Computes the sum over all pairs by definition.
Wides quadratic(const std::vector<Tensor>& in) {
  const std::size_t B = in[2].shape()[0], T = in[2].shape()[1], H = in[2].shape()[2],
                    d = in[2].shape()[3], F = in[0].shape()[3], L = in[3].shape()[3];
  Wides y(in[2].size());
  for (std::size_t bh = 0; bh < B * H; ++bh)
    for (std::size_t i = 0; i < T; ++i) {
      const auto row = [&](std::size_t t) { return (bh / H * T + t) * H + bh % H; };
      Wide elapsed = 0;
      for (std::size_t j = i + 1; j-- > 0;) {
        Wide score = 0;
        for (std::size_t f = 0; f < F; ++f)
          score += Wide(in[0].data()[row(i) * F + f]) * in[1].data()[row(j) * F + f];
        const std::size_t level = std::min<std::size_t>(std::bit_width(i ^ j), L - 1);
        score *= in[3].data()[row(i) * L + level] * std::exp(-elapsed);
        for (std::size_t e = 0; e < d; ++e)
          y[row(i) * d + e] += score * in[2].data()[row(j) * d + e];
        if (in.size() > 4) elapsed += in[4].data()[in[4].dimension() == 1 ? bh % H : row(j)];
      }
    }
  return y;
}

TEST(LogLinearAttention, IsASumOverAllPairs) {
  for (const std::size_t T : {1, 2, 15, 16, 17, 64, 100})
    for (const std::size_t L : {2, 5, 9}) {
      const std::vector<Tensor> in = log_linear_inputs({2, T, 2, 3}, 5, L, T % 3);
      const Wides expected = quadratic(in);
      for (const std::size_t chunk : {1, 2, 5, 16, 128})
        expect_near(value_of(log_linear_op({chunk}), in), expected, is_double ? 1e-10 : 1e-4);
    }
}

/// A token's buckets of past tokens: itself, then blocks of ascending powers of two.
TEST(LogLinearAttention, HasTheBucketsOfAFenwickTree) {
  const std::size_t T = 14, L = 6;
  Tensor one = filled({1, T, 1, 1}, 1), value = zeros({1, T, 1, T});
  for (std::size_t t = 0; t < T; ++t) value(0, t, 0, t) = 1;
  Tensor weights = zeros({1, T, 1, L});
  for (std::size_t i = 0; i < T * L; ++i) weights.data()[i] = real(i % L);
  const Tensor y = log_linear_attention(one, one, value, weights).value();
  const real wanted[] = {4, 4, 4, 4, 4, 4, 4, 4, 3, 3, 3, 3, 1, 0};
  for (std::size_t j = 0; j < T; ++j) EXPECT_EQ(y(0, 13, 0, j), wanted[j]) << j;
}

TEST(LogLinearAttention, IsDifferentiableBothWaysAndPadded) {
  for (const std::size_t rank : {0, 1, 3})
    check_op(log_linear_op({2, {11, 6}, rank == 1}), log_linear_inputs({2, 11, 2, 3}, 4, 4, rank));
}

TEST(LogLinearAttention, StepByStepEqualsTheBatch) {
  const std::vector<Tensor> in = log_linear_inputs({1, 70, 3, 4}, 5, 6, 3);
  const Tensor batch = value_of(log_linear_op({16}), in);
  LogLinearState state;
  for (std::size_t t = 0; t < 70; ++t) {
    const auto now = [&](std::size_t i) {
      Tensor token = token_of(in[i], 0, t);
      return i == 4 ? token.reshape(Shape{3}) : token.reshape(Shape{3, token.size() / 3});
    };
    const Tensor rate = now(4),
                 y = log_linear_attention_step(state, now(0), now(1), now(2), now(3), &rate);
    const Tensor wanted = token_of(batch, 0, t);
    expect_near(y, widen(wanted.data(), wanted.size()), is_double ? 1e-12 : 2e-5);
  }
  EXPECT_EQ(state.sums.size(), 7);  // 70 < 2^7
}

/// When decay erases all other tokens, a query's own token does not depend on the rate.
TEST(LogLinearAttention, GradientsOfFastRatesAreNoRoundingErrors) {
  std::vector<Tensor> in = log_linear_inputs({1, 200, 1, 8}, 8, 5, 1);
  in[4].fill(60);
  const auto gradients = value_and_gradients(log_linear_op({16}), in);
  for (const real slope : gradients[5]) EXPECT_NEAR(slope, 0, 1e-20);
}

TEST(LogLinearAttention, SaysWhichShapesAreWrong) {
  const Var x(zeros({1, 4, 2, 3}));
  EXPECT_EQ(
      error_of([&] {
        log_linear_attention(x, x, x, zeros({1, 4, 2, 1}));
      }),
      "[log_linear_attention] weights must be (B, T, H, L) with L >= 2: weights (1, 4, 2, 1), "
      "q (1, 4, 2, 3)");
  EXPECT_EQ(error_of([&] { log_linear_attention(x, x, x, x, zeros({3})); }),
            "[log_linear_attention] one rate per head, (H) or (B, T, H): rate (3), q (1, 4, 2, 3)");
}

}  // namespace log_linear_attention_test
}  // namespace bochner::inline BOCHNER_PRECISION
