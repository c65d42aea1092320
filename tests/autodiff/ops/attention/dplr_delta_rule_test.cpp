#include <bochner/autodiff/ops/attention/delta_rule.hpp>
#include <bochner/autodiff/ops/attention/dplr_delta_rule.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/autodiff/ops/shape.hpp>

#include "autodiff/attention_reference.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace dplr_delta_rule_test {

using namespace attention_reference;

Op dplr_op(const DplrDeltaRuleOptions& options) {
  return [=](Tape&, const std::vector<Var>& x) {
    return dplr_delta_rule(x[0], x[1], x[2], x[3], x[4], x[5], options);
  };
}

/// Returns q, k, v, a, b and rate; transitions of a token do not grow states.
std::vector<Tensor> dplr_inputs(const Shape& sizes, std::size_t F) {
  const Shape features{sizes[0], sizes[1], sizes[2], F};
  std::vector<Tensor> in{random_tensor(features, 1), random_tensor(features, 2),
                         random_tensor(sizes, 3),    random_tensor(features, 4),
                         random_tensor(features, 5), random_tensor(features, 6)};
  for (std::size_t i = 0; i < in[3].size(); ++i) {
    in[3].data()[i] *= real(-0.3);
    in[4].data()[i] = real(-0.6) * in[3].data()[i] + real(0.1) * in[4].data()[i];
    in[5].data()[i] = real(1 / (1 + std::exp(-double(in[5].data()[i]))));
  }
  return in;
}

/// Computes the rule by definition, token by token.
Wides recurrence(const std::vector<Tensor>& in) {
  const std::size_t B = in[2].shape()[0], T = in[2].shape()[1], H = in[2].shape()[2],
                    d = in[2].shape()[3], F = in[0].shape()[3];
  Wides y(in[2].size());
  for (std::size_t bh = 0; bh < B * H; ++bh) {
    Wides S(F * d);
    for (std::size_t t = 0; t < T; ++t) {
      const std::size_t row = (bh / H * T + t) * H + bh % H;
      const auto at = [&](std::size_t x, std::size_t f) { return Wide(in[x].data()[row * F + f]); };
      for (std::size_t e = 0; e < d; ++e) {
        Wide recalled = 0;
        for (std::size_t f = 0; f < F; ++f) recalled += at(3, f) * S[f * d + e];
        for (std::size_t f = 0; f < F; ++f) {
          Wide& s = S[f * d + e];
          s = std::exp(-at(5, f)) * s + at(4, f) * recalled +
              at(1, f) * Wide(in[2].data()[row * d + e]);
          y[row * d + e] += at(0, f) * s;
        }
      }
    }
  }
  return y;
}

TEST(DplrDeltaRule, IsItsRecurrence) {
  for (const std::size_t T : {1, 2, 15, 16, 17, 100}) {
    const std::vector<Tensor> in = dplr_inputs({2, T, 2, 3}, 5);
    const Wides expected = recurrence(in);
    for (const std::size_t chunk : {1, 5, 32})
      expect_near(value_of(dplr_op({chunk}), in), expected, is_double ? 1e-10 : 1e-4);
  }
}

/// Decays of e^-4 at each token, the fastest, divide by e^64.
TEST(DplrDeltaRule, TakesTheFastestRates) {
  std::vector<Tensor> in = dplr_inputs({1, 70, 2, 3}, 5);
  in[5].fill(4);
  expect_near(value_of(dplr_op({}), in), recurrence(in), is_double ? 1e-10 : 1e-4);
  for (const Tensor& x : value_and_gradients(dplr_op({}), in))
    for (const real value : x) ASSERT_TRUE(std::isfinite(value));
}

TEST(DplrDeltaRule, IsDifferentiableBothWaysAndPadded) {
  for (const bool reverse : {false, true})
    check_op(dplr_op({4, {11, 6}, reverse}), dplr_inputs({2, 11, 2, 3}, 4));
}

TEST(DplrDeltaRule, ContainsTheDeltaRule) {
  const std::vector<Tensor> in = dplr_inputs({2, 40, 2, 3}, 5);
  const auto unit = [](const Var& x) { return x / sqrt(sum(square(x), {-1}, keep)); };
  const Var q = unit(Var(in[0])), u = unit(Var(in[1])), s = exp(slice(Var(in[3]), -1, 0, 1));
  const Tensor y = dplr_delta_rule(q, s * u, in[2], -(s * u), u, zeros(in[1].shape())).value();
  const Tensor wanted = delta_rule(q, u, in[2], reshape(s, {2, 40, 2}), Var()).value();
  expect_near(y, widen(wanted.data(), wanted.size()), is_double ? 1e-12 : 1e-5);
}

TEST(DplrDeltaRule, StepByStepEqualsTheBatch) {
  const std::vector<Tensor> in = dplr_inputs({1, 70, 3, 4}, 5);
  const Tensor batch = value_of(dplr_op({16}), in);
  Tensor state = zeros({3, 5, 4});
  for (std::size_t t = 0; t < 70; ++t) {
    const auto now = [&](std::size_t i) {
      Tensor token = token_of(in[i], 0, t);
      return token.reshape(Shape{3, i == 2 ? 4u : 5u});
    };
    const Tensor y = dplr_delta_rule_step(state, now(0), now(1), now(2), now(3), now(4), now(5));
    const Tensor wanted = token_of(batch, 0, t);
    expect_near(y, widen(wanted.data(), wanted.size()), is_double ? 1e-12 : 2e-5);
  }
}

TEST(DplrDeltaRule, SaysWhichInputsAreWrong) {
  const auto error = [](const Shape& a, real rate) {
    const Var x(zeros({1, 4, 2, 3}));
    return error_of([&] { dplr_delta_rule(x, x, x, zeros(a), x, filled({1, 4, 2, 3}, rate)); });
  };
  EXPECT_EQ(
      error({1, 4, 2, 1}, 0),
      "[dplr_delta_rule] a, b and rate must be (B, T, H, F) as q: q (1, 4, 2, 3), a (1, 4, 2, "
      "1), b (1, 4, 2, 3), rate (1, 4, 2, 3)");
  EXPECT_EQ(error({1, 4, 2, 3}, 5), "[dplr_delta_rule] rates must be 0 to 4; 24 are not");
}

}  // namespace dplr_delta_rule_test
}  // namespace bochner::inline BOCHNER_PRECISION
