#include <bochner/autodiff/ops/sequence.hpp>

#include "autodiff/attention_reference.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace softmax_attention_test {

using namespace attention_reference;

const std::size_t lengths[] = {1, 2, 3, 63, 64, 65, 127, 130};
/// Head sizes for vectors, and for AMX where available.
const std::size_t widths[] = {4, 40};

Op attention_op(bool causal) {
  return [causal](Tape&, const std::vector<Var>& x) {
    return softmax_attention(x[0], x[1], x[2], x.size() > 3 ? x[3] : Var(), causal);
  };
}

Inputs random_inputs(const Shape& sizes, bool slopes) {
  Tensor rate = zeros({slopes ? sizes[2] : 0});
  for (std::size_t h = 0; h < rate.size(); ++h) rate.data()[h] = real(1.5) / real(1 + 9 * h);
  return {random_tensor(sizes, 1), random_tensor(sizes, 2), random_tensor(sizes, 3), rate};
}

std::vector<Wides> naive(const Inputs& in, bool causal) {
  return naive_attention<SoftmaxKernel>(in, random_tensor(in.v.shape(), 99), causal);
}

/// Returns sequence b of x (B, T, ..) as (1, T, ..).
Tensor sequence(const Tensor& x, std::size_t b) {
  Shape shape = x.shape();
  const std::size_t count = x.size() / shape[0];
  shape[0] = 1;
  Tensor y = uninitialized(shape);
  std::copy_n(x.data() + b * count, count, y.data());
  return y;
}

struct Variant {
  bool causal, slopes;
};
const Variant variants[] = {{true, false}, {true, true}, {false, false}, {false, true}};

std::string name_of(const Variant& variant) {
  return std::string(variant.causal ? "causal" : "bidirectional") +
         (variant.slopes ? ", slopes" : "");
}

TEST(SoftmaxAttention, EqualsItsDefinitionForAllLengths) {
  for (const Variant& variant : variants) {
    for (std::size_t d : {5, 40}) {
      for (std::size_t T : lengths) {
        SCOPED_TRACE(name_of(variant) + ", T " + std::to_string(T) + ", d " + std::to_string(d));
        const Inputs in = random_inputs({2, T, 3, d}, variant.slopes);
        const auto expected = naive(in, variant.causal);
        const auto results = value_and_gradients(attention_op(variant.causal), in.list());
        expect_near(results[0], expected[0], is_double ? 1e-12 : 1e-5);
        for (std::size_t i = 1; i < results.size(); ++i)
          expect_near(results[i], expected[i], is_double ? 1e-11 : 1e-4);
      }
    }
  }
}

TEST(SoftmaxAttention, GradientsEqualCentralDifferences) {
  for (const Variant& variant : variants) {
    for (const Shape& sizes : {Shape{1, 7, 1, 1}, Shape{2, 9, 3, 4}, Shape{1, 67, 1, 2}}) {
      SCOPED_TRACE(name_of(variant) + " " + to_string(sizes));
      const Inputs in = random_inputs(sizes, variant.slopes);
      check_op(attention_op(variant.causal), in.list());
    }
  }
}

TEST(SoftmaxAttention, TakesOneVarAsQueriesKeysAndValues) {
  for (bool causal : {true, false}) {
    check_op(
        [causal](Tape&, const std::vector<Var>& x) {
          return softmax_attention(x[0], x[0], x[0], Var(), causal);
        },
        {random_tensor({2, 9, 2, 3}, 1)});
  }
}

/// Logits of about +-1000, whose exp overflows.
TEST(SoftmaxAttention, StaysRightWithLargeLogits) {
  for (const Variant& variant : variants) {
    for (const std::size_t d : widths) {
      SCOPED_TRACE(name_of(variant) + ", d " + std::to_string(d));
      Inputs in = random_inputs({1, 130, 2, d}, variant.slopes);
      for (std::size_t i = 0; i < in.q.size(); ++i) {
        in.q.data()[i] = std::round(16 * in.q.data()[i]);
        in.k.data()[i] = std::round(16 * in.k.data()[i]);
      }
      const auto expected = naive(in, variant.causal);
      const auto results = value_and_gradients(attention_op(variant.causal), in.list());
      for (std::size_t i = 0; i < results.size(); ++i)
        expect_near(results[i], expected[i], is_double ? 1e-10 : 2e-3);
    }
  }
}

TEST(SoftmaxAttention, NeverSeesTheFutureToTheBit) {
  for (const std::size_t d : widths) {
    const Inputs in = random_inputs({2, 130, 2, d}, d == 4);
    const auto run = [](const Inputs& x) { return value_of(attention_op(true), x.list()); };
    for (std::size_t token : telling_positions(130)) {
      SCOPED_TRACE(token);
      for (real change : {real(0.37), real(31)})
        EXPECT_EQ(changed_before(run, in, token, change), 0u);
      EXPECT_EQ(gradient_after(attention_op(true), in, token), 0.0);
    }
  }
}

/// Control: without causality, the same test sees the change.
TEST(SoftmaxAttention, WithoutCausalitySeesTheFuture) {
  const Inputs in = random_inputs({1, 70, 1, 4}, false);
  const auto run = [](const Inputs& x) { return value_of(attention_op(false), x.list()); };
  EXPECT_GT(changed_before(run, in, 65, 1), 60u * 4);
  EXPECT_GT(gradient_after(attention_op(false), in, 60), 0.0);
}

TEST(SoftmaxAttention, PaddingAtTheEndChangesNothingBefore) {
  for (const std::size_t d : widths) {
    const Inputs in = random_inputs({2, 130, 2, d}, true);
    const Tensor whole = value_of(attention_op(true), in.list());
    for (std::size_t T : lengths) {
      const Inputs cut{first_tokens(in.q, T), first_tokens(in.k, T), first_tokens(in.v, T),
                       in.rate};
      expect_near(first_tokens(whole, T), value_of(attention_op(true), cut.list()));
    }
  }
}

TEST(SoftmaxAttention, HasEqualBitsForAllThreads) {
  for (const Variant& variant : variants) {
    for (const std::size_t d : widths)
      expect_equal_for_all_threads(attention_op(variant.causal),
                                   random_inputs({3, 130, 4, d}, variant.slopes).list());
  }
}

/// One head: panels of keys run in groups whose query gradients are joined.
TEST(SoftmaxAttention, EqualsItsDefinitionAcrossPanels) {
  for (const Variant& variant : variants) {
    for (const std::size_t d : widths) {
      SCOPED_TRACE(name_of(variant) + ", d " + std::to_string(d));
      const Inputs in = random_inputs({1, 600, 1, d}, variant.slopes);
      const auto expected = naive(in, variant.causal);
      const auto results = value_and_gradients(attention_op(variant.causal), in.list());
      for (std::size_t i = 0; i < results.size(); ++i)
        expect_near(results[i], expected[i], is_double ? 1e-11 : 2e-4);
      expect_equal_for_all_threads(attention_op(variant.causal), in.list());
    }
  }
}

/// Compares with each sequence alone, cut to its length.
TEST(SoftmaxAttention, TokensPastTheLengthAreNotThere) {
  const std::size_t T = 300;
  const std::vector<std::size_t> cuts{300, 0, 1, 64, 131};
  for (const Variant& variant : variants) {
    const Inputs in = random_inputs({cuts.size(), T, 2, 3}, variant.slopes);
    const Tensor g = random_tensor(in.v.shape(), 99);
    const auto padded = value_and_gradients(
        [&](Tape&, const std::vector<Var>& x) {
          return softmax_attention(x[0], x[1], x[2], x.size() > 3 ? x[3] : Var(), variant.causal,
                                   cuts);
        },
        in.list());
    for (std::size_t b = 0; b < cuts.size(); ++b) {
      SCOPED_TRACE(name_of(variant) + ", length " + std::to_string(cuts[b]));
      const auto part = [&](const Tensor& x) { return first_tokens(sequence(x, b), cuts[b]); };
      const Inputs cut{part(in.q), part(in.k), part(in.v), in.rate};
      const auto expected = naive_attention<SoftmaxKernel>(cut, part(g), variant.causal);
      for (std::size_t i = 0; i < 4; ++i) {
        expect_near(part(padded[i]), expected[i], is_double ? 1e-11 : 2e-4);
        const Tensor whole = sequence(padded[i], b);
        for (std::size_t at = expected[i].size(); at < whole.size(); ++at)
          ASSERT_EQ(whole.data()[at], 0);
      }
    }
  }
}

/// Returns rates per token from 0 to 3, most of them small: irregular time steps.
Inputs timed_inputs(const Shape& sizes) {
  Inputs in = random_inputs(sizes, false);
  in.rate = random_tensor({sizes[0], sizes[1], sizes[2]}, 6);
  for (real& r : in.rate) r = real(0.02) * r * r * r * r;
  return in;
}

TEST(SoftmaxAttention, RatesOfEachTokenEqualTheirDefinition) {
  for (const bool causal : {true, false}) {
    for (const Shape& sizes : {Shape{2, 1, 3, 5}, Shape{2, 65, 3, 40}, Shape{1, 600, 1, 3}}) {
      SCOPED_TRACE((causal ? "causal " : "bidirectional ") + to_string(sizes));
      const Inputs in = timed_inputs(sizes);
      const auto expected = naive(in, causal);
      const auto results = value_and_gradients(attention_op(causal), in.list());
      for (std::size_t i = 0; i < results.size(); ++i)
        expect_near(results[i], expected[i], is_double ? 1e-10 : 3e-4);
      expect_equal_for_all_threads(attention_op(causal), in.list());
    }
  }
}

TEST(SoftmaxAttention, RatesOfEachTokenHaveTheGradientsOfDifferences) {
  if (!is_double) GTEST_SKIP() << "differences are taken in double";
  for (const bool causal : {true, false}) {
    Inputs in = timed_inputs({2, 7, 2, 3});
    in.rate += real(0.1);  // cumulative sums ascend on either side of a difference
    expect_gradients(attention_op(causal), in.list());
  }
}

TEST(SoftmaxAttention, EqualRatesOfAllTokensAreRatesOfHeads) {
  for (const bool causal : {true, false}) {
    const Inputs heads = random_inputs({2, 130, 3, 5}, true);
    Inputs tokens = heads;
    tokens.rate = zeros({2, 130, 3});
    for (std::size_t i = 0; i < tokens.rate.size(); ++i)
      tokens.rate.data()[i] = heads.rate.data()[i % 3];
    const auto a = value_and_gradients(attention_op(causal), heads.list());
    const auto b = value_and_gradients(attention_op(causal), tokens.list());
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = 0; j < a[i].size(); ++j)
        ASSERT_NEAR(double(a[i].data()[j]), double(b[i].data()[j]), is_double ? 1e-12 : 2e-5);
  }
}

/// A pause of 1e6 among tokens 0.1 apart: lags after it are as exact as those before.
TEST(SoftmaxAttention, ALongPauseBlursNoLagBehindIt) {
  Inputs in = timed_inputs({1, 130, 1, 3});
  std::fill(in.rate.begin(), in.rate.end(), real(0.1));
  in.rate.data()[90] = real(1e6);
  const auto expected = naive(in, true);
  const auto results = value_and_gradients(attention_op(true), in.list());
  for (std::size_t i = 0; i < 4; ++i) expect_near(results[i], expected[i], is_double ? 1e-9 : 1e-4);
  in.rate.data()[90] = std::numeric_limits<real>::infinity();
  const auto longer = value_and_gradients(attention_op(true), in.list());
  for (std::size_t i = 0; i < 4; ++i) expect_equal_bits(longer[i], results[i]);
}

TEST(SoftmaxAttention, RatesOfEachTokenEndWithTheirSequence) {
  const std::vector<std::size_t> cuts{70, 0, 33};
  const Inputs in = timed_inputs({3, 70, 2, 3});
  const auto padded = value_and_gradients(
      [&](Tape&, const std::vector<Var>& x) {
        return softmax_attention(x[0], x[1], x[2], x[3], false, cuts);
      },
      in.list());
  const Tensor g = random_tensor(in.v.shape(), 99);
  for (std::size_t b = 0; b < cuts.size(); ++b) {
    const auto part = [&](const Tensor& x) { return first_tokens(sequence(x, b), cuts[b]); };
    const Inputs cut{part(in.q), part(in.k), part(in.v), part(in.rate)};
    const auto expected = naive_attention<SoftmaxKernel>(cut, part(g), false);
    for (std::size_t i = 0; i < 5; ++i)
      expect_near(part(padded[i]), expected[i], is_double ? 1e-11 : 2e-4);
  }
}

TEST(SoftmaxAttention, TakesEmptyShapes) {
  for (const Variant& variant : variants) {
    for (const Shape& sizes : {Shape{2, 0, 3, 4}, Shape{0, 5, 3, 4}, Shape{2, 5, 0, 4}}) {
      const auto results = value_and_gradients(attention_op(variant.causal),
                                               random_inputs(sizes, variant.slopes).list());
      EXPECT_EQ(to_string(results[0].shape()), to_string(sizes));
      if (variant.slopes && sizes[2] > 0) expect_all(results[4], 0);
    }
  }
}

TEST(SoftmaxAttention, NamesWhatDoesNotFit) {
  const Tensor x = zeros({1, 4, 2, 3});
  EXPECT_EQ(error_of([&] {
              softmax_attention(x, zeros({1, 4, 2, 5}), x, {}, true);
            }),
            "[softmax_attention] q, k, v must be (B, T, H, d): q (1, 4, 2, 3), k (1, 4, 2, 5), v "
            "(1, 4, 2, 3)");
  EXPECT_EQ(error_of([&] { softmax_attention(x, x, x, Tensor(zeros({3})), true); }),
            "[softmax_attention] one rate per head: rate (3), q (1, 4, 2, 3)");
  EXPECT_EQ(error_of([&] { softmax_attention(x, x, x, {}, true, {5}); }),
            "[softmax_attention] a length of 5 exceeds T of q (1, 4, 2, 3)");
  EXPECT_EQ(error_of([&] {
              softmax_attention(x, x, x, {}, true, {4, 4});
            }),
            "[softmax_attention] one length per sequence: 2 lengths, q (1, 4, 2, 3)");
}

}  // namespace softmax_attention_test
}  // namespace bochner::inline BOCHNER_PRECISION
