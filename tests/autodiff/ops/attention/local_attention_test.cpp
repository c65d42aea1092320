#include <bochner/autodiff/ops/sequence.hpp>
#include <bochner/autodiff/ops/shape.hpp>

#include "autodiff/attention_reference.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace near_attention_test {

using namespace attention_reference;

constexpr std::size_t T = 75, H = 2, F = 5, d = 4;

struct Tokens {
  Tensor q = random_tensor({2, T, H, d}, 1), k = random_tensor({2, T, H, d}, 2),
         v = random_tensor({2, T, H, d}, 3), rate = zeros({H}),
         features_q = random_tensor({2, T, H, F}, 4), features_k = random_tensor({2, T, H, F}, 5);
  Tokens() { rate.data()[0] = real(0.2), rate.data()[1] = real(0.01); }
  std::vector<Tensor> list() const { return {q, k, v, rate, features_q, features_k}; }
};

/// Combines exact attention within `window` and features beyond, as a mixer does.
Op joined(std::size_t window, std::size_t chunk) {
  return [=](Tape&, const std::vector<Var>& x) {
    const Var near = local_attention(x[0], x[1], x[2], x[3], window), means = slice(near, 3, 0, d);
    const auto older = [&](const Var& all) { return slice(all, 1, 0, T - window); };
    const auto later = [&](const Var& all) { return slice(all, 1, window, T); };
    return concat({slice(means, 1, 0, window),
                   linear_attention(from_logarithms(later(x[4])), from_logarithms(older(x[5])),
                                    older(x[2]), x[3], {true, chunk, {}}, later(near))},
                  1);
  };
}

/// Computes all pairs in long double.
Wides by_definition(const Tokens& in, std::size_t window) {
  Wides y(in.v.size());
  const auto row = [](const Tensor& x, std::size_t b, std::size_t t, std::size_t h) {
    const std::size_t n = x.shape()[3];
    return widen(x.data() + ((b * T + t) * H + h) * n, n);
  };
  for (std::size_t task = 0; task < 2 * T * H; ++task) {
    const std::size_t b = task / (T * H), i = task / H % T, h = task % H;
    Wides logarithm;
    Wide top = -std::numeric_limits<Wide>::infinity(), sum = 0;
    for (std::size_t j = 0; j <= i; ++j) {
      const Wide kernel = i - j < window
                              ? SoftmaxKernel::logarithm(row(in.q, b, i, h), row(in.k, b, j, h))
                              : LogarithmicKernel::logarithm(row(in.features_q, b, i, h),
                                                             row(in.features_k, b, j, h));
      logarithm.push_back(kernel - Wide(in.rate.data()[h]) * Wide(i - j));
      top = std::max(top, logarithm.back());
    }
    for (const Wide l : logarithm) sum += std::exp(l - top);
    for (std::size_t j = 0; j <= i; ++j) {
      const Wides v = row(in.v, b, j, h);
      for (std::size_t e = 0; e < d; ++e)
        y[task * d + e] += std::exp(logarithm[j] - top) / sum * v[e];
    }
  }
  return y;
}

TEST(NearAttention, JoinsLinearAttentionAsOneSum) {
  const Tokens in;
  for (std::size_t window : {1, 2, 31, 32, 33, 70}) {
    for (std::size_t chunk : {1, 4, 64}) {
      SCOPED_TRACE("window " + std::to_string(window) + ", chunk " + std::to_string(chunk));
      expect_near(value_of(joined(window, chunk), in.list()), by_definition(in, window),
                  is_double ? 1e-12 : 1e-5);
    }
  }
}

/// Features far above or below the exact kernel: only one side remains.
TEST(NearAttention, StaysRightBesideHugeLogarithms) {
  for (real offset : {real(-700), real(-40), real(40), real(700)}) {
    SCOPED_TRACE(offset);
    Tokens in;
    for (std::size_t i = 0; i < in.features_k.size(); ++i) {
      if (i / (H * F) % T % 3 == 0) in.features_k.data()[i] += offset;
      if (i / (H * F) % T % 5 == 0) in.features_q.data()[i] -= offset / 2;
    }
    expect_near(value_of(joined(6, 4), in.list()), by_definition(in, 6), is_double ? 1e-11 : 2e-3);
    for (const Tensor& gradient : value_and_gradients(joined(6, 4), in.list()))
      for (std::size_t i = 0; i < gradient.size(); ++i)
        ASSERT_TRUE(std::isfinite(gradient.data()[i]));
  }
}

/// Orthogonal rectified features: older tokens have no weight.
TEST(NearAttention, IsAllThereIsBesideFeaturesThatVanish) {
  const Tokens in;
  Tensor q = zeros({2, T, H, F}), k = q;
  for (std::size_t row = 0; row < q.size() / F; ++row)
    q.data()[row * F] = 1, k.data()[row * F + 1] = 1;
  for (real log_weight : {real(-120), real(0), real(120)}) {
    Tensor beside = random_tensor({2, T, H, d + 1}, 7);
    for (std::size_t row = 0; row < 2 * T * H; ++row) beside.data()[row * (d + 1) + d] = log_weight;
    const Tensor y = value_of(
        [](Tape&, const std::vector<Var>& x) {
          return linear_attention(x[0], x[1], x[2], {}, {true, 16, {}}, x[3]);
        },
        {q, k, in.v, beside});
    for (std::size_t i = 0; i < y.size(); ++i)
      ASSERT_EQ(y.data()[i], beside.data()[i / d * (d + 1) + i % d]);
    LinearAttentionState state(H, F, d);
    const auto first = [](const Tensor& x) {
      Tensor token = uninitialized({1, 1, H, x.shape()[3]});
      std::copy_n(x.data(), token.size(), token.data());
      return token;
    };
    const Tensor near = first(beside),
                 step = linear_attention_step(state, Var(first(q)), Var(first(k)), first(in.v),
                                              nullptr, 0, &near);
    for (std::size_t i = 0; i < step.size(); ++i) ASSERT_EQ(step.data()[i], y.data()[i]);
  }
}

/// Weights are relative to the requested window, however few tokens there are.
TEST(NearAttention, CountsFromAWindowThatIsLongerThanTheSequence) {
  const Tokens in;
  const auto attend = [&](std::size_t window) {
    return value_of(
        [=](Tape&, const std::vector<Var>& x) {
          return local_attention(x[0], x[1], x[2], x[3], window);
        },
        {in.q, in.k, in.v, in.rate});
  };
  const Tensor all = attend(T), longer = attend(T + 10), longest = attend(1 << 24);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_log_sum = i % (d + 1) == d;
    const double more = is_log_sum ? 10 * double(in.rate.data()[i / (d + 1) % H]) : 0;
    ASSERT_NEAR(longer.data()[i], all.data()[i] + more, is_double ? 1e-12 : 1e-5);
    if (!is_log_sum) {
      ASSERT_EQ(longest.data()[i], all.data()[i]);
    }
  }
}

TEST(NearAttention, OfAllTokensIsSoftmaxAttention) {
  const Tokens in;
  const std::vector<Tensor> inputs{in.q, in.k, in.v, in.rate};
  const auto near = value_and_gradients(
      [](Tape&, const std::vector<Var>& x) {
        return slice(local_attention(x[0], x[1], x[2], x[3], T), 3, 0, d);
      },
      inputs);
  const auto exact = value_and_gradients(
      [](Tape&, const std::vector<Var>& x) {
        return softmax_attention(x[0], x[1], x[2], x[3], true);
      },
      inputs);
  for (std::size_t i = 0; i < exact.size(); ++i)
    expect_near(near[i], exact[i], is_double ? 1e-12 : 1e-4);
}

TEST(NearAttention, PaddingChangesNothing) {
  const Tokens in;
  const auto attend = [](const Tensor& q, const Tensor& k, const Tensor& v,
                         const std::vector<std::size_t>& lengths) {
    return value_of(
        [&](Tape&, const std::vector<Var>& x) {
          return local_attention(x[0], x[1], x[2], Var(), 6, lengths);
        },
        {q, k, v});
  };
  const Tensor padded = attend(in.q, in.k, in.v, {40, T});
  const Tensor all = attend(in.q, in.k, in.v, {});
  expect_near(first_tokens(padded, 40), first_tokens(all, 40));
  const std::size_t row = H * (d + 1);
  for (std::size_t i = 40 * row; i < T * row; ++i) ASSERT_EQ(padded.data()[i], 0);
}

TEST(NearAttention, SaysWhatItDoesNotTake) {
  const Tensor x = zeros({1, 4, 2, 3});
  EXPECT_EQ(error_of([&] { local_attention(x, x, x, {}, 0); }),
            "[local_attention] the window must hold at least the token itself");
  EXPECT_EQ(error_of([&] {
              linear_attention(from_logarithms(x), from_logarithms(x), x, {}, {true, 4, {}}, x);
            }),
            "[linear_attention] extra must be (B, T, H, d + 1): (1, 4, 2, 3), v "
            "(1, 4, 2, 3)");
}

}  // namespace near_attention_test
}  // namespace bochner::inline BOCHNER_PRECISION
