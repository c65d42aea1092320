/// Rates per token and ragged sequences.
#include <bochner/autodiff/ops/sequence.hpp>
#include <limits>

#include "autodiff/attention_reference.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace linear_attention_tokens_test {

using namespace attention_reference;

using Lengths = std::vector<std::size_t>;

Inputs random_inputs(const Shape& sizes, std::size_t F) {
  Shape features = sizes;
  features[3] = F;
  return {random_tensor(features, 1), random_tensor(features, 2), random_tensor(sizes, 3),
          zeros({0})};
}

/// Returns rates from 0 to 3, most of them small.
Tensor random_rates(const Shape& shape) {
  Tensor rate = random_tensor(shape, 6);
  for (real& r : rate) r = real(0.02) * r * r * r * r;
  return rate;
}

Op attention_op(std::size_t chunk, bool causal = true, const Lengths& lengths = {}) {
  return [=](Tape&, const std::vector<Var>& x) {
    return linear_attention(from_logarithms(x[0]), from_logarithms(x[1]), x[2],
                            x.size() > 3 ? x[3] : Var(), {causal, chunk, lengths});
  };
}

TEST(LinearAttentionRates, OfEachTokenEqualTheirDefinition) {
  for (std::size_t T : {1, 2, 16, 17, 65}) {
    Inputs in = random_inputs({2, T, 3, 4}, 5);
    in.rate = random_rates({2, T, 3});
    const auto expected =
        naive_attention<LogarithmicKernel>(in, random_tensor(in.v.shape(), 99), true);
    for (std::size_t chunk : {1, 16, 100}) {
      const auto results = value_and_gradients(attention_op(chunk), in.list());
      for (std::size_t i = 0; i < results.size(); ++i) {
        SCOPED_TRACE("T " + std::to_string(T) + ", result " + std::to_string(i));
        expect_near(results[i], expected[i], is_double ? 1e-11 : 3e-4);
      }
    }
  }
}

TEST(LinearAttentionRates, OfEachTokenHaveTheGradientsOfDifferences) {
  if (!is_double) GTEST_SKIP() << "differences are taken in double";
  Inputs in = random_inputs({2, 7, 2, 3}, 4);
  in.rate = random_rates({2, 7, 2});
  expect_gradients(attention_op(3), in.list());
}

TEST(LinearAttentionRates, EqualForAllTokensAreRatesOfHeads) {
  Inputs heads = random_inputs({2, 50, 3, 4}, 5), tokens = heads;
  heads.rate = random_rates({3});
  tokens.rate = zeros({2, 50, 3});
  for (std::size_t i = 0; i < tokens.rate.size(); ++i)
    tokens.rate.data()[i] = heads.rate.data()[i % 3];
  const auto a = value_and_gradients(attention_op(16), heads.list());
  const auto b = value_and_gradients(attention_op(16), tokens.list());
  for (std::size_t i = 0; i < 4; ++i) expect_equal_bits(a[i], b[i]);
}

/// Tokens 0.1 apart with a pause of 1e5: later times must not be measured from before it.
TEST(LinearAttentionRates, StreamingEqualsTheBatchAfterALongPause) {
  const std::size_t T = 40;
  Inputs in = random_inputs({1, T, 2, 4}, 5);
  in.rate = filled({1, T, 2}, real(0.1));
  in.rate(0, 11, 0) = real(1e5), in.rate(0, 11, 1) = 1e6;
  in.rate(0, 29, 0) = real(1e16), in.rate(0, 29, 1) = std::numeric_limits<real>::infinity();
  const Tensor batch = value_of(attention_op(32), in.list());
  LinearAttentionState state(2, 5, 4);
  for (std::size_t t = 0; t < T; ++t) {
    const Tensor rate = token_of(in.rate, 0, t);
    const Tensor y =
        linear_attention_step(state, from_logarithms(token_of(in.q, 0, t)),
                              from_logarithms(token_of(in.k, 0, t)), token_of(in.v, 0, t), &rate);
    expect_near(y, token_of(batch, 0, t), is_double ? 1e-9 : 2e-5);
  }
}

TEST(LinearAttentionRates, OfEachTokenNeverShowTheFuture) {
  Inputs in = random_inputs({2, 70, 2, 4}, 5);
  in.rate = random_rates({2, 70, 2});
  const Tensor before = value_of(attention_op(16), in.list());
  for (std::size_t token : telling_positions(70)) {
    Inputs other = in;
    for (std::size_t t = token; t < 70; ++t) other.rate.data()[2 * t] += 5;
    const Tensor after = value_of(attention_op(16), other.list());
    EXPECT_EQ(std::memcmp(before.data(), after.data(), token * 8 * sizeof(real)), 0) << token;
  }
}

/// Returns the first `tokens` of sequence b.
Tensor cut(const Tensor& x, std::size_t b, std::size_t tokens) {
  Shape shape = x.shape();
  const std::size_t row = x.size() / (shape[0] * shape[1]), T = shape[1];
  shape[0] = 1, shape[1] = tokens;
  Tensor y = uninitialized(shape);
  std::copy_n(x.data() + b * T * row, tokens * row, y.data());
  return y;
}

/// Features of a head are computed for several texts at once.
TEST(LinearAttentionStep, OfManyTextsIsThatOfEach) {
  const std::size_t B = 35, H = 3, d = 4, F = 5;
  const Tensor w = random_tensor({H, F, d}, 9), rate = random_rates({B, 1, H});
  const auto step = [&](LinearAttentionState& state, const Tensor& q, const Tensor& k,
                        const Tensor& v, const Tensor& lost) {
    return linear_attention_step(state, exponential_features(q, w, real(0.5)),
                                 exponential_features(k, w, real(0.5)), v, &lost);
  };
  LinearAttentionState together(B * H, F, d);
  std::vector<LinearAttentionState> each(B, LinearAttentionState(H, F, d));
  for (std::uint64_t t = 0; t < 3; ++t) {
    const Tensor q = random_tensor({B, 1, H, d}, 10 + t), k = random_tensor({B, 1, H, d}, 20 + t),
                 v = random_tensor({B, 1, H, d}, 30 + t);
    const Tensor y = step(together, q, k, v, rate);
    for (std::size_t b = 0; b < B; ++b) {
      const Tensor alone = step(each[b], cut(q, b, 1), cut(k, b, 1), cut(v, b, 1), cut(rate, b, 1));
      expect_near(alone, cut(y, b, 1));
    }
  }
}

/// Sets everything beyond the lengths to NaN.
Inputs poisoned(Inputs in, const Lengths& lengths) {
  for (Tensor* x : {&in.q, &in.k, &in.v}) {
    const std::size_t T = x->shape()[1], row = x->size() / (lengths.size() * T);
    for (std::size_t b = 0; b < lengths.size(); ++b)
      std::fill(x->data() + (b * T + lengths[b]) * row, x->data() + (b + 1) * T * row,
                std::numeric_limits<real>::quiet_NaN());
  }
  return in;
}

TEST(LinearAttentionLengths, MakePaddingChangeNothing) {
  const Lengths lengths{40, 0, 33, 1};
  const Inputs in = random_inputs({4, 40, 2, 3}, 5);
  const Inputs padded = poisoned(in, lengths);
  for (bool causal : {true, false}) {
    const auto all = value_and_gradients(attention_op(16, causal, lengths), padded.list());
    for (std::size_t b = 0; b < 4; ++b) {
      const std::size_t tokens = lengths[b];
      const Tensor g = cut(random_tensor(in.v.shape(), 99), b, tokens);
      Tape tape;
      std::vector<Var> leaves;
      for (const Tensor& x : in.list()) leaves.push_back(tape.input(cut(x, b, tokens)));
      const Var y = attention_op(16, causal)(tape, leaves);
      std::vector<Tensor> alone{y.value()};
      if (tokens > 0) tape.backward(y, g);
      for (const Var& leaf : leaves) alone.push_back(gradient_of(leaf));
      for (std::size_t i = 0; i < all.size(); ++i) {
        SCOPED_TRACE("sequence " + std::to_string(b) + ", result " + std::to_string(i));
        expect_near(cut(all[i], b, tokens), alone[i], is_double ? 1e-12 : 1e-5);
        const std::size_t row = all[i].size() / (4 * 40);
        for (std::size_t t = tokens; t < 40; ++t) {
          for (std::size_t e = 0; e < row; ++e)
            ASSERT_EQ(all[i].data()[(b * 40 + t) * row + e], real(0)) << t;
        }
      }
    }
  }
}

TEST(LinearAttentionLengths, HoldForExponentialFeatures) {
  const Lengths lengths{7, 20};
  const Inputs in = random_inputs({2, 20, 2, 3}, 3), padded = poisoned(in, lengths);
  const Tensor w = random_tensor({2, 5, 3}, 8);
  const auto op = [&](bool composed) -> Op {
    return [&, composed](Tape&, const std::vector<Var>& x) {
      const auto features = [&](const Var& tokens) {
        const Features all = exponential_features(tokens, x[3], real(0.5));
        return composed ? from_logarithms(all.values()) : all;
      };
      return linear_attention(features(x[0]), features(x[1]), x[2], Var(), {false, 16, lengths});
    };
  };
  const auto fused = value_and_gradients(op(false), {padded.q, padded.k, padded.v, w});
  const auto composed = value_and_gradients(op(true), {in.q, in.k, in.v, w});
  for (std::size_t i = 0; i < fused.size(); ++i)
    expect_near(fused[i], composed[i], is_double ? 1e-12 : 1e-4);
}

TEST(LinearAttentionLengths, NameWhatDoesNotFit) {
  const Inputs in = random_inputs({2, 4, 1, 3}, 3);
  const auto error = [&](const Lengths& lengths) {
    return error_of([&] { value_of(attention_op(4, true, lengths), in.list()); });
  };
  EXPECT_EQ(error({4}), "[linear_attention] one length per sequence: 1 lengths, v (2, 4, 1, 3)");
  EXPECT_EQ(error({4, 5}), "[linear_attention] a length of 5 exceeds T of v (2, 4, 1, 3)");
}

}  // namespace linear_attention_tokens_test
}  // namespace bochner::inline BOCHNER_PRECISION
