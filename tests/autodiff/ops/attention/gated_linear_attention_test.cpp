#include <gmock/gmock.h>

#include <bochner/autodiff/ops/attention/gated_linear_attention.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <cmath>
#include <limits>

#include "autodiff/op_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace gated_linear_attention_test {

using namespace op_check;
using Options = GatedLinearAttentionOptions;
using Lengths = std::vector<std::size_t>;

struct Inputs {
  Tensor q, k, v, log_decay;
  std::vector<Tensor> list() const { return {q, k, v, log_decay}; }
};

/// Returns inputs with decays per channel from 1 to exp(-40) per token, optionally per token.
Inputs random_inputs(const Shape& tokens, std::size_t F, std::size_t d, bool by_token) {
  const Shape features{tokens[0], tokens[1], tokens[2], F};
  Inputs in{random_tensor(features, 1), random_tensor(features, 2),
            random_tensor({tokens[0], tokens[1], tokens[2], d}, 3),
            random_tensor(by_token ? features : Shape{tokens[2], F}, 4)};
  for (std::size_t i = 0; i < in.log_decay.size(); ++i) {
    const double slow[] = {1e-4, 0.01, 0.3, 4, 40};
    in.log_decay.data()[i] = real(-slow[i % 5] * std::abs(double(in.log_decay.data()[i])));
  }
  return in;
}

/// Computes sum_j sum_f q_if k_jf exp(sum of decays between) v_j in double.
std::vector<double> by_definition(const Inputs& in, const Options& options) {
  const Shape& s = in.q.shape();
  const std::size_t T = s[1], H = s[2], F = s[3], d = in.v.shape()[3];
  const bool by_token = in.log_decay.dimension() == 4;
  std::vector<double> y(in.v.size());
  for (std::size_t b = 0; b < s[0]; ++b) {
    const std::size_t length = options.lengths.empty() ? T : options.lengths[b];
    for (std::size_t h = 0; h < H; ++h) {
      for (std::size_t f = 0; f < F; ++f) {
        for (std::size_t i = 0; i < length; ++i) {
          double log_weight = 0;
          const std::size_t past = options.reverse ? length - 1 - i : i;
          for (std::size_t lag = 0; lag <= past; ++lag) {
            const auto token = [&](std::size_t n) {
              return ((b * T + (options.reverse ? i + n : i - n)) * H + h);
            };
            if (lag > 0)
              log_weight += by_token ? in.log_decay.data()[token(lag - 1) * F + f]
                                     : in.log_decay.data()[h * F + f];
            if (lag == 0 && options.strict) continue;
            const double weight = double(in.q.data()[token(0) * F + f]) *
                                  double(in.k.data()[token(lag) * F + f]) * std::exp(log_weight);
            for (std::size_t e = 0; e < d; ++e)
              y[token(0) * d + e] += weight * double(in.v.data()[token(lag) * d + e]);
          }
        }
      }
    }
  }
  return y;
}

Op gated(const Options& options) {
  return [=](Tape&, const std::vector<Var>& x) {
    return gated_linear_attention(x[0], x[1], x[2], x[3], options);
  };
}

TEST(GatedLinearAttention, EqualsItsDefinitionForEveryDecayAndLength) {
  for (bool by_token : {false, true}) {
    for (std::size_t T : {1, 2, 15, 16, 17, 65}) {
      for (int kind = 0; kind < 4; ++kind) {
        const Inputs in = random_inputs({2, T, 3}, 5, 9, by_token);
        const Options options{
            .chunk = 16, .lengths = {T, T / 2}, .reverse = kind % 2 == 1, .strict = kind / 2 == 1};
        const Tensor y = value_of(gated(options), in.list());
        const std::vector<double> expected = by_definition(in, options);
        for (std::size_t i = 0; i < y.size(); ++i)
          ASSERT_NEAR(y.data()[i], expected[i],
                      (is_double ? 1 : 5) * tolerance * std::max(1.0, std::abs(expected[i])))
              << T << " " << i;
      }
    }
  }
}

/// Some sequences are long enough that sums of decay gradients restart.
TEST(GatedLinearAttention, HasTheBitsOfEveryChunk) {
  for (bool by_token : {false, true}) {
    for (std::size_t T : {37, 2100}) {
      const Inputs in = random_inputs({2, T, 2}, T > 37 ? 5 : 20, T > 37 ? 4 : 33, by_token);
      const auto results = [&](std::size_t chunk) {
        return value_and_gradients(gated({chunk, {T, T - 7}, T > 37}), in.list());
      };
      const auto whole = results(64);
      for (std::size_t chunk : {1, 2, 7, 36, 5000}) {
        const auto parts = results(chunk);
        for (std::size_t i = 0; i < whole.size(); ++i) expect_equal_bits(parts[i], whole[i]);
      }
    }
  }
}

/// Reverses the tokens, (1, T, ..).
Tensor turned(const Tensor& x) {
  Tensor y = x;
  const std::size_t T = x.shape()[1], row = x.size() / T;
  for (std::size_t t = 0; t < T; ++t)
    std::copy_n(x.data() + t * row, row, y.data() + (T - 1 - t) * row);
  return y;
}

TEST(GatedLinearAttention, GoesTheOtherWayAsOverTurnedTokens) {
  for (bool strict : {false, true}) {
    const Inputs in = random_inputs({1, 2100, 2}, 5, 4, true);
    const Inputs other{turned(in.q), turned(in.k), turned(in.v), turned(in.log_decay)};
    const auto results = value_and_gradients(gated({.strict = strict}), in.list());
    Tape tape;
    std::vector<Var> leaves;
    for (const Tensor& x : other.list()) leaves.push_back(tape.input(x));
    const Var y = gated({.reverse = true, .strict = strict})(tape, leaves);
    expect_near(turned(y.value()), results[0]);
    tape.backward(y, turned(random_tensor(y.shape(), 99)));
    for (std::size_t i = 0; i < 4; ++i)
      expect_near(turned(gradient_of(leaves[i])), results[i + 1], is_double ? 1e-11 : 5e-3);
  }
}

/// Heads of 2, 4 or 8 channels share a vector where possible, bit-equal to single heads.
TEST(GatedLinearAttention, HasTheBitsOfSmallHeadsAlone) {
  for (std::size_t n : {2, 4, 8}) {
    for (int kind = 0; kind < 8; ++kind) {
      SCOPED_TRACE(std::to_string(n) + ", " + std::to_string(kind));
      const std::size_t H = 16, T = n == 4 && kind / 4 ? 1100 : 21;
      const Inputs in = random_inputs({2, T, H}, n, n, kind / 4);
      const Op op = gated({.chunk = 8,
                           .lengths = {T, T - 8},
                           .reverse = kind % 2 == 1,
                           .strict = kind / 2 % 2 == 1});
      const auto all = value_and_gradients(op, in.list());
      const Op by_head = [&](Tape& tape, const std::vector<Var>& x) {
        std::vector<Var> heads;
        for (std::size_t h = 0; h < H; ++h) {
          std::vector<Var> one;
          for (const Var& var : x) one.push_back(slice(var, var.rank() == 4 ? 2 : 0, h, h + 1));
          heads.push_back(op(tape, one));
        }
        return concat(heads, 2);
      };
      const auto alone = value_and_gradients(by_head, in.list());
      for (std::size_t i = 0; i < all.size(); ++i) EXPECT_TRUE(all[i] == alone[i]) << i;
    }
  }
}

TEST(GatedLinearAttention, StepByStepHasTheBitsOfTheBatch) {
  const std::size_t B = 3, T = 50, H = 2, F = 5, d = 9;
  const Inputs in = random_inputs({B, T, H}, F, d, true);
  const Tensor batch = value_of(gated({.chunk = 16}), in.list());
  const auto token = [&](const Tensor& x, std::size_t t, std::size_t n) {
    Tensor y = uninitialized({B, H, n});
    for (std::size_t b = 0; b < B; ++b)
      std::copy_n(x.data() + (b * T + t) * H * n, H * n, y.data() + b * H * n);
    return y;
  };
  Tensor state = zeros({B, H, F, d});
  for (std::size_t t = 0; t < T; ++t)
    expect_equal_bits(gated_linear_attention_step(state, token(in.q, t, F), token(in.k, t, F),
                                                  token(in.v, t, d), token(in.log_decay, t, F)),
                      token(batch, t, d));
}

/// Covers every tile size in both directions.
TEST(GatedLinearAttention, HasTheGradientsOfDifferences) {
  if (!is_double) GTEST_SKIP() << "differences are taken in double";
  for (int kind = 0; kind < 8; ++kind) {
    SCOPED_TRACE(kind);
    const Inputs in = random_inputs({2, 9, 2}, 3 + 4 * (kind % 3), 2 + 5 * (kind % 2), kind / 4);
    expect_gradients(
        gated(
            {.chunk = 4, .lengths = {9, 6}, .reverse = kind % 2 == 1, .strict = kind / 2 % 2 == 1}),
        in.list());
  }
}

/// A decay of 0 erases the past exactly, without NaN.
TEST(GatedLinearAttention, ForgetsAtDecaysWithoutBound) {
  for (const double decay : {-40.0, -1e4, -std::numeric_limits<double>::infinity()}) {
    Inputs in = random_inputs({1, 40, 1}, 4, 3, true);
    for (std::size_t f = 0; f < 4; ++f) in.log_decay(0, 20, 0, f) = real(decay);
    const auto results = value_and_gradients(gated({.chunk = 16}), in.list());
    for (const Tensor& x : results)
      for (std::size_t i = 0; i < x.size(); ++i) ASSERT_TRUE(std::isfinite(x.data()[i]));
    if (decay > -1000) continue;
    for (std::size_t f = 0; f < 4; ++f) {
      EXPECT_EQ(results[4](0, 20, 0, f), 0) << f;
      EXPECT_EQ(results[4](0, 0, 0, f), 0) << "nothing to fade " << f;
    }
    Inputs other = in;
    for (std::size_t i = 0; i < 20 * 3; ++i) other.v.data()[i] += 5;
    const Tensor y = value_of(gated({}), other.list());
    EXPECT_EQ(std::memcmp(y.data() + 60, results[0].data() + 60, 60 * sizeof(real)), 0);
    EXPECT_NE(y.data()[59], results[0].data()[59]);
  }
}

TEST(GatedLinearAttention, NeverShowsTheFutureToTheBit) {
  const Inputs in = random_inputs({2, 70, 2}, 5, 4, true);
  for (bool strict : {false, true}) {
    const Op op = gated({.chunk = 16, .strict = strict});
    const Tensor before = value_of(op, in.list());
    for (std::size_t token = 68; token > 0; token -= 4) {
      Inputs other = in;
      for (Tensor* x : {&other.q, &other.k, &other.v, &other.log_decay}) {
        const std::size_t row = x->size() / 140;
        for (std::size_t i = token * row; i < 70 * row; ++i) x->data()[i] -= 1;
      }
      const Tensor after = value_of(op, other.list());
      EXPECT_EQ(std::memcmp(before.data(), after.data(), token * 8 * sizeof(real)), 0) << token;
      EXPECT_NE(before.data()[token * 8], after.data()[token * 8]);
    }
  }
}

/// NaN beyond the lengths.
TEST(GatedLinearAttention, LetsPaddingChangeNothing) {
  for (int kind = 0; kind < 4; ++kind) {
    const Inputs in = random_inputs({3, 20, 2}, 5, 4, true);
    const Lengths lengths{0, 13, 20};
    Inputs padded = in;
    for (Tensor* x : {&padded.q, &padded.k, &padded.v, &padded.log_decay}) {
      const std::size_t row = x->size() / 60;
      for (std::size_t b = 0; b < 3; ++b)
        std::fill(x->data() + (b * 20 + lengths[b]) * row, x->data() + (b + 1) * 20 * row,
                  std::numeric_limits<real>::quiet_NaN());
    }
    const Options options{
        .chunk = 8, .lengths = lengths, .reverse = kind % 2 == 1, .strict = kind / 2 == 1};
    const auto a = value_and_gradients(gated(options), in.list());
    const auto b = value_and_gradients(gated(options), padded.list());
    for (std::size_t i = 0; i < a.size(); ++i) expect_equal_bits(a[i], b[i]);
    for (std::size_t i = 0; i < 20 * 8; ++i) ASSERT_EQ(a[0].data()[i], real(0));
  }
}

TEST(GatedLinearAttention, HasTheSameBitsForAnyNumberOfThreads) {
  const Inputs in = random_inputs({3, 33, 4}, 17, 6, true);
  expect_equal_bits_for_threads(gated({.chunk = 8}), in.list(), {2, 3, 4, 8});
}

/// Threads split the columns of the state; beyond 1,024 tokens, sums restart.
TEST(GatedLinearAttention, OfOneHeadHasTheSameBitsForAnyNumberOfThreads) {
  for (const bool by_token : {false, true}) {
    for (int kind = 0; kind < 4; ++kind) {
      const Inputs in = random_inputs({1, kind == 3 ? 1100u : 70u, 1}, 40, 37, by_token);
      const Options options{.chunk = 32, .reverse = kind % 2 == 1, .strict = kind / 2 == 1};
      expect_equal_bits_for_threads(gated(options), in.list(), {2, 3, 4, 8});
    }
  }
}

/// Computes the gradient of each token's decay (T, F) in double: decay_t o S_(t-1) times the
/// gradient of the remaining state, with value_and_gradients()'s cotangent. One sequence, one head.
std::vector<double> decay_gradients(const Inputs& in) {
  const std::size_t T = in.q.shape()[1], F = in.q.shape()[3], d = in.v.shape()[3];
  const bool by_token = in.log_decay.dimension() == 4;
  const Tensor g = random_tensor(in.v.shape(), 99);
  std::vector<double> decay(T * F), states((T + 1) * F * d), later(F * d), gradients(T * F);
  for (std::size_t i = 0; i < T * F; ++i)
    decay[i] = std::exp(double(in.log_decay.data()[by_token ? i : i % F]));
  for (std::size_t t = 0; t < T; ++t)
    for (std::size_t i = 0; i < F * d; ++i)
      states[(t + 1) * F * d + i] =
          decay[t * F + i / d] * states[t * F * d + i] +
          double(in.k.data()[t * F + i / d]) * double(in.v.data()[t * d + i % d]);
  for (std::size_t t = T; t-- > 0;)
    for (std::size_t i = 0; i < F * d; ++i) {
      later[i] += double(in.q.data()[t * F + i / d]) * double(g.data()[t * d + i % d]);
      later[i] *= decay[t * F + i / d];
      gradients[t * F + i / d] += later[i] * states[t * F * d + i];
    }
  return gradients;
}

/// Returns the relative deviation of gradients of channel f, per token or summed.
double deviation(const Tensor& gradient, const std::vector<double>& expected, std::size_t f) {
  const std::size_t F = gradient.shape().back();
  double errors = 0, squares = 0, sum = 0;
  for (std::size_t i = f; i < expected.size(); i += F) {
    if (gradient.size() > F) errors += std::pow(double(gradient.data()[i]) - expected[i], 2);
    squares += expected[i] * expected[i];
    sum += expected[i];
  }
  if (gradient.size() == F) errors = std::pow(double(gradient.data()[f]) - sum, 2);
  return std::sqrt(errors / squares);
}

/// Gradients of decays are sums over all later tokens; in fast channels nearly all terms cancel.
/// They keep their digits in float, too.
TEST(GatedLinearAttention, KeepsItsDigitsOverLongSequences) {
  const std::size_t T = 60000, F = 4;
  const double decays[] = {-1e-3, -0.1, -3, -7};
  for (int kind = 0; kind < 4; ++kind) {
    const bool by_token = kind % 2 == 1;
    Inputs in = random_inputs({1, T, 1}, F, 4, by_token);
    for (std::size_t i = 0; i < in.log_decay.size(); ++i)
      in.log_decay.data()[i] = real(decays[i % F]);
    const Tensor gradient = value_and_gradients(gated({.strict = kind / 2 == 1}), in.list())[4];
    const std::vector<double> expected = decay_gradients(in);
    for (std::size_t f = 0; f < F; ++f)
      EXPECT_LT(deviation(gradient, expected, f), is_double ? 1e-11
                                                  : f == 0  ? 2e-3
                                                            : 2e-4)
          << decays[f] << (by_token ? " of tokens" : " shared");
  }
}

TEST(GatedLinearAttention, NamesWhatDoesNotFit) {
  const Inputs in = random_inputs({2, 4, 1}, 3, 2, false);
  const auto error = [](const Inputs& inputs, const Options& options) {
    return error_of([&] { value_of(gated(options), inputs.list()); });
  };
  EXPECT_EQ(error({in.q, in.k, in.v, zeros({3})}, {}),
            "[gated_linear_attention] decays must be (H, F) or (B, T, H, F): log_decay (3), k (2, "
            "4, 1, 3)");
  EXPECT_EQ(error(in, {.lengths = {4, 5}}),
            "[gated_linear_attention] a length of 5 exceeds T of v (2, 4, 1, 2)");
}

}  // namespace gated_linear_attention_test
}  // namespace bochner::inline BOCHNER_PRECISION
