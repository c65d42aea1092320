#include <bochner/autodiff/ops/attention/attention_by_ops.hpp>
#include <bochner/autodiff/ops/attention/delta_rule.hpp>
#include <bochner/autodiff/ops/attention/dplr_delta_rule.hpp>
#include <bochner/autodiff/ops/attention/gated_linear_attention.hpp>
#include <bochner/autodiff/ops/attention/log_linear_attention.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/sequence.hpp>
#include <bochner/autodiff/ops/shape.hpp>

#include "autodiff/op_table.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace ops_sequence_test {

using Inputs = std::vector<Var>;

/// Returns q and k (B, T, H, F), v (B, T, H, d), and a rate per head if wanted.
std::vector<Shapes> attention_shapes(std::size_t F, std::size_t d, bool rates) {
  std::vector<Shapes> all;
  for (const auto& [B, T, H] :
       {std::array<std::size_t, 3>{2, 7, 3}, {1, 1, 1}, {0, 3, 2}, {2, 0, 2}, {3, 33, 2}}) {
    all.push_back({{B, T, H, F}, {B, T, H, F}, {B, T, H, d}});
    if (rates) all.back().push_back({H});
  }
  return all;
}

OpRow linear_row(const char* variant, FeatureScale scale, bool causal, bool rates) {
  return {"linear_attention",
          variant,
          [=](Tape&, const Inputs& x) {
            return linear_attention({x[0], scale}, {x[1], scale}, x[2], rates ? x[3] : Var(),
                                    {causal, 4, {}});
          },
          attention_shapes(5, 3, rates),
          {0.1, 2}};
}

/// Keys whose logarithms are 50 apart, which share no unit in float.
OpRow far_keys_row() {
  return {"linear_attention", "FarKeys",
          [](Tape&, const Inputs& x) {
            Tensor far = zeros({x[1].dim(1), 1, 1});
            for (std::size_t t = 1; t < far.size(); t += 2) far.data()[t] = -50;
            return linear_attention(from_logarithms(x[0]), from_logarithms(x[1] + far), x[2], Var(),
                                    {true, 4, {}});
          },
          attention_shapes(5, 3, false)};
}

/// Exponential features of shared frequencies with a rate per token.
OpRow exponential_row() {
  return {"linear_attention",
          "ExponentialFeatures",
          [](Tape&, const Inputs& x) {
            const auto features = [&](const Var& tokens) {
              return exponential_features(tokens, x[3], real(0.5), x[4]);
            };
            return linear_attention(features(x[0]), features(x[1]), x[2], x[5], {true, 4, {}});
          },
          {{{2, 7, 3, 4}, {2, 7, 3, 4}, {2, 7, 3, 4}, {3, 5, 4}, {3, 5}, {2, 7, 3}},
           {{2, 0, 3, 4}, {2, 0, 3, 4}, {2, 0, 3, 4}, {3, 5, 4}, {3, 5}, {2, 0, 3}}},
          {0.1, 1}};
}

/// An extra term may dominate the features, or vanish against them.
OpRow beside_row(const char* variant, FeatureScale scale) {
  return {"linear_attention",
          variant,
          [=](Tape&, const Inputs& x) {
            return linear_attention({x[0], scale}, {x[1], scale}, x[2], x[3], {true, 4, {}}, x[4]);
          },
          {{{2, 7, 3, 5}, {2, 7, 3, 5}, {2, 7, 3, 2}, {3}, {2, 7, 3, 3}},
           {{1, 9, 2, 5}, {1, 9, 2, 5}, {1, 9, 2, 2}, {1, 9, 2}, {1, 9, 2, 3}},
           {{2, 0, 3, 5}, {2, 0, 3, 5}, {2, 0, 3, 2}, {3}, {2, 0, 3, 3}}},
          {0.1, 2}};
}

/// Exponential features with an extra term, where the slope of |x|^2 does not cancel.
OpRow exponential_beside_row() {
  return {
      "linear_attention",
      "ExponentialFeaturesBeside",
      [](Tape&, const Inputs& x) {
        const auto features = [&](const Var& tokens) {
          return exponential_features(tokens, x[3], real(0.5));
        };
        return linear_attention(features(x[0]), features(x[1]), x[2], Var(), {true, 4, {}}, x[4]);
      },
      {{{2, 7, 3, 4}, {2, 7, 3, 4}, {2, 7, 3, 4}, {3, 5, 4}, {2, 7, 3, 5}}},
      {0.1, 1}};
}

OpRow near_row(const char* variant, bool rates) {
  return {"local_attention", variant,
          [=](Tape&, const Inputs& x) {
            return local_attention(x[0], x[1], x[2], rates ? x[3] : Var(), 3);
          },
          attention_shapes(4, 4, rates)};
}

OpRow softmax_row(const char* variant, bool causal, bool rates) {
  return {"softmax_attention", variant,
          [=](Tape&, const Inputs& x) {
            return softmax_attention(x[0], x[1], x[2], rates ? x[3] : Var(), causal);
          },
          attention_shapes(4, 4, rates)};
}

/// Attention as separate ops, which tangents use.
std::vector<OpRow> rows_by_ops() {
  const auto linear = [](Tape&, const Inputs& x) {
    return linear_attention_by_ops(x[0], x[1], x[2], x[3], {true, 4, {}}, Var());
  };
  const auto softmax = [](Tape&, const Inputs& x) {
    return softmax_attention_by_ops(x[0], x[1], x[2], x[3], true, {});
  };
  const auto local = [](Tape&, const Inputs& x) {
    return local_attention_by_ops(x[0], x[1], x[2], x[3], 3);
  };
  return {{"linear_attention_by_ops", "", linear, attention_shapes(5, 3, true), {0.1, 2}},
          {"softmax_attention_by_ops", "", softmax, attention_shapes(4, 4, true)},
          {"local_attention_by_ops", "", local, attention_shapes(4, 4, true)}};
}

/// The first token's products underflow.
TEST(AttentionByOps, IsFiniteWhereFeaturesUnderflow) {
  const Tensor q = reshape(Var(Tensor{{0, -110}, {0, -1}}), {1, 2, 1, 2}).value(),
               k = reshape(Var(Tensor{{-110, 0}, {0, -2}}), {1, 2, 1, 2}).value(),
               v = reshape(Var(Tensor{3, 5}), {1, 2, 1, 1}).value();
  const auto logs = [](const Tensor& x) { return Features(Var(x), FeatureScale::logarithmic); };
  const Tensor y =
      linear_attention_by_ops(logs(q), logs(k), Var(v), Var(), {true, 4, {}}, Var()).value();
  EXPECT_NEAR(double(y.data()[0]), 3, 1e-6);
  const double first = std::exp(-1.), second = 1 + std::exp(-3.);
  EXPECT_NEAR(double(y.data()[1]), (3 * first + 5 * second) / (first + second), 1e-5);
}

/// Returns q, k and v as above, strengths, and rates of that rank if wanted.
OpRow delta_row(const char* variant, FeatureScale scale, std::size_t rate_rank) {
  std::vector<Shapes> shapes = attention_shapes(5, 3, false);
  for (Shapes& one : shapes) {
    const Shape tokens{one[0][0], one[0][1], one[0][2]};
    one.push_back(tokens);
    if (rate_rank == 1) one.push_back({tokens[2]});
    if (rate_rank == 2) one.push_back({tokens[2], one[0][3]});
    if (rate_rank == 3) one.push_back(tokens);
    if (rate_rank == 4) one.push_back(one[0]);
  }
  return {"delta_rule",
          variant,
          [=](Tape&, const Inputs& x) {
            return delta_rule({x[0], scale}, {x[1], scale}, x[2], x[3],
                              rate_rank > 0 ? x[4] : Var(), {4, {}});
          },
          shapes,
          {0.1, 2}};
}

/// Returns q, k, v, a, b and rates; b is made small, so that states do not grow.
OpRow dplr_row(const char* variant, bool reverse) {
  std::vector<Shapes> shapes = attention_shapes(5, 3, false);
  for (Shapes& all : shapes) all.insert(all.end(), 3, Shape(all[0]));
  return {
      "dplr_delta_rule",
      variant,
      [=](Tape&, const Inputs& x) {
        return dplr_delta_rule(x[0], x[1], x[2], x[3], x[4] * -0.1, x[5] * 0.4, {4, {}, reverse});
      },
      shapes,
      {0.1, 2}};
}

/// Weights of 4 levels, and rates of that rank if wanted.
OpRow log_linear_attention_row(const char* variant, std::size_t rate_rank) {
  std::vector<Shapes> shapes = attention_shapes(5, 3, false);
  for (Shapes& one : shapes) {
    const Shape tokens{one[0][0], one[0][1], one[0][2]};
    one.push_back({tokens[0], tokens[1], tokens[2], 4});
    if (rate_rank > 0) one.push_back(rate_rank == 1 ? Shape{tokens[2]} : tokens);
  }
  return {"log_linear_attention",
          variant,
          [=](Tape&, const Inputs& x) {
            return log_linear_attention(x[0], x[1], x[2], x[3], rate_rank > 0 ? x[4] : Var(),
                                        {4, {}, rate_rank == 1});
          },
          shapes,
          {0.1, 2}};
}

/// Decays per channel, or per token and channel.
OpRow gated_row(const char* variant, bool by_token, bool reverse, bool strict) {
  std::vector<Shapes> shapes = attention_shapes(5, 3, false);
  for (Shapes& all : shapes) all.push_back(by_token ? all[0] : Shape{all[0][2], all[0][3]});
  return {"gated_linear_attention",
          variant,
          [=](Tape&, const Inputs& x) {
            return gated_linear_attention(x[0], x[1], x[2], x[3],
                                          {.chunk = 4, .reverse = reverse, .strict = strict});
          },
          shapes,
          {-2, 0}};
}

std::vector<OpRow> rows() {
  return {
      linear_row("Causal", FeatureScale::linear, true, true),
      linear_row("Bidirectional", FeatureScale::linear, false, false),
      linear_row("CausalLogarithms", FeatureScale::logarithmic, true, true),
      linear_row("BidirectionalLogarithms", FeatureScale::logarithmic, false, false),
      far_keys_row(),
      exponential_row(),
      beside_row("Beside", FeatureScale::linear),
      beside_row("LogarithmsBeside", FeatureScale::logarithmic),
      exponential_beside_row(),
      delta_row("", FeatureScale::linear, 0),
      delta_row("Gated", FeatureScale::linear, 3),
      delta_row("GatedChannels", FeatureScale::linear, 4),
      delta_row("FadingChannels", FeatureScale::linear, 2),
      delta_row("Logarithms", FeatureScale::logarithmic, 1),
      dplr_row("", false),
      dplr_row("Reverse", true),
      log_linear_attention_row("", 0),
      log_linear_attention_row("ReverseFading", 1),
      log_linear_attention_row("Gated", 3),
      gated_row("", false, false, false),
      gated_row("OfTokens", true, false, false),
      gated_row("Reverse", true, true, false),
      gated_row("Strict", true, false, true),
      gated_row("ReverseStrict", false, true, true),
      near_row("", true),
      near_row("WithoutRates", false),
      softmax_row("Causal", true, true),
      softmax_row("Bidirectional", false, true),
      softmax_row("WithoutRates", true, false),
      {"softmax_attention",
       "RatesOfTokens",
       [](Tape&, const Inputs& x) { return softmax_attention(x[0], x[1], x[2], x[3], true); },
       {{{2, 7, 3, 4}, {2, 7, 3, 4}, {2, 7, 3, 4}, {2, 7, 3}},
        {{2, 0, 3, 4}, {2, 0, 3, 4}, {2, 0, 3, 4}, {2, 0, 3}}},
       {0.1, 1}},
      {"rotary",
       "",
       [](Tape&, const Inputs& x) { return rotary(x[0], 3); },
       {{{2, 7, 3, 4}}, {{1, 1, 1, 2}}, {{0, 3, 2, 4}}, {{3, 33, 2, 6}}}},
      {"rotary",
       "ShortWaves",
       [](Tape&, const Inputs& x) { return rotary(x[0], 11, 100); },
       {{{2, 5, 3, 4}}, {{1, 300, 2, 2}}, {{2, 0, 2, 4}}, {{2, 3, 0, 4}}}},
      {"short_convolution",
       "",
       [](Tape&, const Inputs& x) { return short_convolution(x[0], x[1]); },
       {{{2, 7, 3}, {4, 3}},
        {{1, 1, 1}, {3, 1}},
        {{0, 3, 2}, {2, 2}},
        {{2, 3, 4}, {0, 4}},
        {{3, 700, 17}, {4, 17}}}},
  };
}

INSTANTIATE_TEST_SUITE_P(Sequence, OpTest, ::testing::ValuesIn(rows()), test_name);
INSTANTIATE_TEST_SUITE_P(SequenceByOps, OpTest, ::testing::ValuesIn(rows_by_ops()), test_name);

}  // namespace ops_sequence_test
}  // namespace bochner::inline BOCHNER_PRECISION
