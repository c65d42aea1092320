/// Streaming linear attention: its state, and the arguments it rejects.
#include <bochner/autodiff/ops/sequence.hpp>

#include "autodiff/attention_reference.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace linear_attention_step_test {

using namespace attention_reference;

/// One of two equal keys decays for 100,000 tokens, each step too small for a float logarithm.
TEST(LinearAttentionStep, KeepsSlowDecay) {
  constexpr int tokens = 100000;
  constexpr double rate = 4e-7;
  LinearAttentionState state(1, 1, 1);
  const auto step = [&](real log_key, real value) {
    const auto token = [](real x) { return filled({1, 1, 1, 1}, x); };
    const Tensor rates = filled({1}, real(rate));
    const FeatureScale scale = FeatureScale::logarithmic;
    return linear_attention_step(state, {token(0), scale}, {token(log_key), scale}, token(value),
                                 &rates)
        .data()[0];
  };
  step(12, 1);
  for (int t = 1; t < tokens; ++t) step(-60, 0);
  const double faded = std::exp(-rate * tokens);
  EXPECT_NEAR(step(12, 0), faded / (faded + 1), 1e-6);
}

/// Geometric series of equal keys. Rounding exp(-rate) to float would cost 3e-8 per step.
TEST(LinearAttentionStep, KeepsSlowDecayOfEqualKeys) {
  constexpr int half = 50000;
  for (const double rate : {1e-4, 1e-6}) {
    LinearAttentionState state(1, 1, 1);
    const Tensor one = filled({1, 1, 1, 1}, 1), rates = filled({1}, real(rate));
    real y = 0;
    for (int t = 0; t < 2 * half; ++t) {
      const Tensor value = filled({1, 1, 1, 1}, t < half ? real(1) : real(0));
      y = linear_attention_step(state, Var(one), Var(one), value, &rates).data()[0];
    }
    const double faded = std::exp(-double(real(rate)) * half);
    EXPECT_NEAR(double(y) / (faded / (1 + faded)), 1, 2e-4) << rate;
  }
}

TEST(LinearAttentionStep, HasAFloorInTheUnitOfItsKeys) {
  const Tensor rates = filled({1}, real(0.5)), one = filled({1, 1, 1, 1}, 1);
  LinearAttentionState state(1, 1, 1);
  for (int t = 0; t < 60; ++t) {
    const Tensor key = filled({1, 1, 1, 1}, t == 0 ? real(1) : real(0));
    const Tensor y = linear_attention_step(state, Var(one), Var(key), one, &rates, real(1e-3));
    const double sum = std::exp(-0.5 * t);
    EXPECT_NEAR(y.data()[0], sum / std::max(sum, 1e-3), 1e-5) << t;
  }
}

/// Orthogonal features leave all weight to the extra term, unless its weight underflows too.
TEST(LinearAttentionStep, SeesWhatIsBesideWhereNoKeyIsLike) {
  const FeatureScale scale = FeatureScale::logarithmic;
  Tensor beside = zeros({1, 2}), faint = beside;
  beside(0, 0) = faint(0, 0) = 5;
  beside(0, 1) = -30, faint(0, 1) = -1000;
  for (const real apart : {real(85), real(90), real(100), real(500)}) {
    Tensor q = zeros({1, 1, 1, 2}), k = zeros({1, 1, 1, 2});
    q.data()[1] = k.data()[0] = is_double ? -10 * apart : -apart;
    const auto step = [&](const Tensor& extra) {
      LinearAttentionState state(1, 2, 1);
      return linear_attention_step(state, {Var(q), scale}, {Var(k), scale}, filled({1, 1, 1, 1}, 1),
                                   nullptr, 0, &extra);
    };
    EXPECT_EQ(step(beside).data()[0], 5) << apart;
    EXPECT_THROW(step(faint), std::underflow_error) << apart;
  }
}

TEST(LinearAttentionStep, NamesWhatDoesNotFit) {
  LinearAttentionState state(2, 5, 4);
  const Tensor q = zeros({1, 1, 2, 5}), v = zeros({1, 1, 2, 4}), rate = zeros({3});
  const auto error = [&](const Tensor& k, const Tensor& v, const Tensor* rate) {
    return error_of([&] { linear_attention_step(state, Var(q), Var(k), v, rate); });
  };
  EXPECT_EQ(error(q, v, nullptr), "no error");
  EXPECT_EQ(error(zeros({1, 1, 2, 6}), v, nullptr),
            "[linear_attention_step] q and k must be (B, 1, H, F) and v (B, 1, H, d) of a state (B "
            "H, F, d) (2, 5, 4): q (1, 1, 2, 5), k (1, 1, 2, 6), v (1, 1, 2, 4)");
  EXPECT_EQ(error(q, v, &rate),
            "[linear_attention_step] one rate per head: state (B H, F, d) (2, 5, 4)");
  const auto error_beside = [&](const Tensor& beside, FeatureScale scale, real floor) {
    return error_of([&] {
      linear_attention_step(state, {Var(q), scale}, {Var(q), scale}, v, nullptr, floor, &beside);
    });
  };
  const FeatureScale linear = FeatureScale::linear;
  EXPECT_EQ(error_beside(zeros({2, 5}), linear, 0), "no error");
  EXPECT_EQ(error_beside(zeros({2, 4}), linear, 0),
            "[linear_attention_step] extra must be (B H, d + 1) for a state (B H, F, d) (2, 5, 4)");
  EXPECT_EQ(error_beside(zeros({2, 5}), linear, 1),
            "[linear_attention_step] extra needs positive features");
  EXPECT_EQ(error_beside(zeros({2, 5}), FeatureScale::logarithmic, 1),
            "[linear_attention_step] a floor needs linear features: logarithms have no fixed unit");
}

}  // namespace linear_attention_step_test
}  // namespace bochner::inline BOCHNER_PRECISION
