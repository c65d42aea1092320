#include <bochner/autodiff/ops/sequence.hpp>
#include <limits>

#include "autodiff/attention_reference.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace linear_attention_test {

using namespace attention_reference;

struct Options {
  FeatureScale scale;
  bool causal;
  std::size_t chunk;
};

const std::size_t lengths[] = {1, 2, 3, 63, 64, 65, 127, 130};
const std::size_t chunk_sizes[] = {1, 3, 16, 64, 100};

Op attention_op(const Options& options) {
  return [options](Tape&, const std::vector<Var>& x) {
    return linear_attention({x[0], options.scale}, {x[1], options.scale}, x[2],
                            x.size() > 3 ? x[3] : Var(), {options.causal, options.chunk, {}});
  };
}

/// Returns features of the wanted scale; logarithms have standard deviation 1.
Tensor random_features(const Shape& shape, FeatureScale scale, std::uint64_t stream) {
  Tensor x = random_tensor(shape, stream);
  for (std::size_t i = 0; i < x.size() && scale == FeatureScale::linear; ++i)
    x.data()[i] = std::abs(x.data()[i]);
  return x;
}

Inputs random_inputs(const Shape& sizes, std::size_t F, FeatureScale scale, bool decay) {
  Shape features = sizes;
  features[3] = F;
  Tensor rate = zeros({decay ? sizes[2] : 0});
  for (std::size_t h = 0; h < rate.size(); ++h) rate.data()[h] = real(1.5) / real(1 + 9 * h);
  return {random_features(features, scale, 1), random_features(features, scale, 2),
          random_tensor(sizes, 3), rate};
}

std::vector<Wides> naive(const Inputs& in, const Options& options) {
  const Tensor g = random_tensor(in.v.shape(), 99);
  return options.scale == FeatureScale::linear
             ? naive_attention<LinearKernel>(in, g, options.causal)
             : naive_attention<LogarithmicKernel>(in, g, options.causal);
}

struct Variant {
  FeatureScale scale;
  bool causal, decay;
};
const Variant variants[] = {
    {FeatureScale::linear, true, false},     {FeatureScale::linear, true, true},
    {FeatureScale::linear, false, false},    {FeatureScale::logarithmic, true, false},
    {FeatureScale::logarithmic, true, true}, {FeatureScale::logarithmic, false, false},
};

std::string name_of(const Variant& variant) {
  return std::string(variant.scale == FeatureScale::linear ? "linear" : "logarithmic") +
         (variant.causal ? ", causal" : "") + (variant.decay ? ", decay" : "");
}

/// Checks the output and gradients for all chunk sizes.
void expect_definition(const Inputs& in, const Variant& variant, double limit,
                       double gradient_limit) {
  const auto expected = naive(in, {variant.scale, variant.causal, 1});
  for (std::size_t chunk : chunk_sizes) {
    const auto results =
        value_and_gradients(attention_op({variant.scale, variant.causal, chunk}), in.list());
    for (std::size_t i = 0; i < results.size(); ++i) {
      SCOPED_TRACE("chunk " + std::to_string(chunk) + ", result " + std::to_string(i));
      expect_near(results[i], expected[i], i == 0 ? limit : gradient_limit);
    }
  }
}

TEST(LinearAttention, EqualsItsDefinitionForAllLengthsAndChunks) {
  for (const Variant& variant : variants) {
    for (std::size_t T : lengths) {
      SCOPED_TRACE(name_of(variant) + ", T " + std::to_string(T));
      expect_definition(random_inputs({2, T, 3, 4}, 5, variant.scale, variant.decay), variant,
                        is_double ? 1e-12 : 1e-5, is_double ? 1e-11 : 1e-4);
    }
  }
}

TEST(LinearAttention, ChunksChangeNothingButRounding) {
  for (const Variant& variant : variants) {
    SCOPED_TRACE(name_of(variant));
    const Inputs in = random_inputs({1, 130, 2, 6}, 9, variant.scale, variant.decay);
    const auto first =
        value_and_gradients(attention_op({variant.scale, variant.causal, 130}), in.list());
    for (std::size_t chunk : chunk_sizes) {
      const auto other =
          value_and_gradients(attention_op({variant.scale, variant.causal, chunk}), in.list());
      for (std::size_t i = 0; i < first.size(); ++i)
        expect_near(other[i], first[i], is_double ? 1e-12 : 1e-4);
    }
  }
}

TEST(LinearAttention, GradientsEqualCentralDifferences) {
  for (const Variant& variant : variants) {
    for (const Shape& sizes : {Shape{1, 7, 1, 1}, Shape{2, 11, 3, 4}}) {
      SCOPED_TRACE(name_of(variant) + " " + to_string(sizes));
      const Inputs in = random_inputs(sizes, 5, variant.scale, variant.decay);
      check_op(attention_op({variant.scale, variant.causal, 4}), in.list());
      check_op(attention_op({variant.scale, variant.causal, 3}), in.list());
    }
  }
}

TEST(LinearAttention, TakesOneVarAsQueriesAndKeys) {
  for (const Variant& variant : variants) {
    const Inputs in = random_inputs({2, 9, 2, 3}, 4, variant.scale, false);
    const Options options{variant.scale, variant.causal, 4};
    check_op(
        [options](Tape& tape, const std::vector<Var>& x) {
          return attention_op(options)(tape, {x[0], x[0], x[1]});
        },
        {in.q, in.v});
  }
}

/// Logarithms of each token are shifted by up to +-500, outside the range of exp.
TEST(LinearAttention, StaysRightWithHugeLogarithms) {
  for (const Variant& variant : variants) {
    if (variant.scale == FeatureScale::linear) continue;
    SCOPED_TRACE(name_of(variant));
    Inputs in = random_inputs({1, 130, 2, 4}, 5, variant.scale, variant.decay);
    const RandomFunction random{3, Purpose::test, 5};
    for (std::size_t row = 0; row < 130 * 2; ++row) {
      const real offset_q = real(std::round(1000 * random.uniform(2 * row) - 500));
      const real offset_k = real(std::round(1000 * random.uniform(2 * row + 1) - 500));
      for (std::size_t f = 0; f < 5; ++f) {
        in.q.data()[row * 5 + f] += offset_q;
        in.k.data()[row * 5 + f] += offset_k;
      }
    }
    expect_definition(in, variant, is_double ? 1e-11 : 1e-3, is_double ? 1e-11 : 1e-3);
  }
}

/// Keys grow by 300, fall by 300 and grow again: with decay, old keys become visible again.
TEST(LinearAttention, StaysRightWhenKeysGrowAndFall) {
  Inputs in = random_inputs({1, 130, 2, 4}, 5, FeatureScale::logarithmic, true);
  in.rate.data()[0] = 40, in.rate.data()[1] = real(0.5);
  for (std::size_t i = 0; i < in.k.size(); ++i) {
    const double t = double(i / 10);
    in.k.data()[i] += real(t < 30 ? 10 * t : t < 60 ? 600 - 10 * t : t < 80 ? -300 : 0);
  }
  expect_definition(in, {FeatureScale::logarithmic, true, true}, is_double ? 1e-11 : 1e-3,
                    is_double ? 1e-11 : 1e-3);
}

Tensor attend(const Inputs& in, const Options& options) {
  return value_of(attention_op(options), in.list());
}

TEST(LinearAttention, NeverSeesTheFutureToTheBit) {
  for (const Variant& variant : variants) {
    if (!variant.causal) continue;
    const Inputs in = random_inputs({2, 130, 2, 4}, 5, variant.scale, variant.decay);
    for (std::size_t chunk : chunk_sizes) {
      const Options options{variant.scale, true, chunk};
      for (std::size_t token : telling_positions(130)) {
        SCOPED_TRACE(name_of(variant) + ", chunk " + std::to_string(chunk) + ", token " +
                     std::to_string(token));
        const auto run = [&](const Inputs& x) { return attend(x, options); };
        for (real change : {real(0.37), real(31), real(300)})
          EXPECT_EQ(changed_before(run, in, token, change), 0u);
        EXPECT_EQ(gradient_after(attention_op(options), in, token), 0.0);
      }
    }
  }
}

/// Computes one head by definition with a stabiliser: the running maximum of the keys, or the
/// maximum of all keys, as in published code.
Tensor with_stabilizer(const Inputs& in, bool of_all_keys) {
  const std::size_t T = in.v.shape()[1], d = in.v.shape()[3], F = in.q.shape()[3];
  real top = -std::numeric_limits<real>::infinity();
  for (std::size_t i = 0; i < in.k.size() && of_all_keys; ++i) top = std::max(top, in.k.data()[i]);
  Tensor y = zeros(in.v.shape());
  for (std::size_t i = 0; i < T; ++i) {
    for (std::size_t f = 0; f < F; ++f) top = std::max(top, in.k.data()[i * F + f]);
    real total = 0;
    for (std::size_t j = 0; j <= i; ++j) {
      real weight = 0;
      for (std::size_t f = 0; f < F; ++f)
        weight += std::exp(in.q.data()[i * F + f]) * std::exp(in.k.data()[j * F + f] - top);
      total += weight;
      for (std::size_t e = 0; e < d; ++e) y.data()[i * d + e] += weight * in.v.data()[j * d + e];
    }
    for (std::size_t e = 0; e < d; ++e) y.data()[i * d + e] /= total;
  }
  return y;
}

/// Control: the test must detect a stabiliser that looks ahead.
TEST(LinearAttention, TheTestOfTheFutureSeesAStabilizerThatLooksAhead) {
  const Inputs in = random_inputs({1, 30, 1, 4}, 5, FeatureScale::logarithmic, false);
  const auto running = [](const Inputs& x) { return with_stabilizer(x, false); };
  const auto of_all = [](const Inputs& x) { return with_stabilizer(x, true); };
  expect_near(running(in), attend(in, {FeatureScale::logarithmic, true, 16}));
  expect_near(of_all(in), running(in));
  EXPECT_EQ(changed_before(running, in, 20, real(7.3)), 0u);
  EXPECT_GT(changed_before(of_all, in, 20, real(7.3)), 10u);
}

TEST(LinearAttention, StreamingEqualsTheBatch) {
  for (const Variant& variant : variants) {
    if (!variant.causal) continue;
    SCOPED_TRACE(name_of(variant));
    const std::size_t B = 2, T = 130, H = 3, d = 4, F = 5;
    Inputs in = random_inputs({B, T, H, d}, F, variant.scale, variant.decay);
    if (variant.scale == FeatureScale::logarithmic) {
      for (std::size_t i = 0; i < in.k.size(); ++i)
        in.k.data()[i] += real(i / (H * F) % T < 70 ? 20 : -20);
    }
    const Tensor batch = attend(in, {variant.scale, true, 16});
    for (std::size_t b = 0; b < B; ++b) {
      LinearAttentionState state(H, F, d);
      for (std::size_t t = 0; t < T; ++t) {
        const Features q(token_of(in.q, b, t), variant.scale),
            k(token_of(in.k, b, t), variant.scale);
        const Tensor y = linear_attention_step(state, q, k, token_of(in.v, b, t),
                                               variant.decay ? &in.rate : nullptr);
        expect_near(y, token_of(batch, b, t), is_double ? 1e-12 : 2e-5);
      }
    }
  }
}

TEST(LinearAttention, PaddingAtTheEndChangesNothingBefore) {
  for (const Variant& variant : variants) {
    if (!variant.causal) continue;
    const Inputs in = random_inputs({2, 130, 2, 4}, 5, variant.scale, variant.decay);
    for (std::size_t T : lengths) {
      const Inputs cut{first_tokens(in.q, T), first_tokens(in.k, T), first_tokens(in.v, T),
                       in.rate};
      const Options options{variant.scale, true, 16};
      expect_near(first_tokens(attend(in, options), T), attend(cut, options));
    }
  }
}

TEST(LinearAttention, HasEqualBitsForAllThreads) {
  for (const Variant& variant : variants) {
    const Inputs in = random_inputs({3, 130, 4, 8}, 16, variant.scale, variant.decay);
    expect_equal_for_all_threads(attention_op({variant.scale, variant.causal, 16}), in.list());
  }
}

TEST(LinearAttention, GivesOneWhereAllValuesAreOne) {
  for (const Variant& variant : variants) {
    Inputs in = random_inputs({2, 130, 2, 3}, 5, variant.scale, variant.decay);
    in.v = filled(in.v.shape(), 1);
    const Tensor y = attend(in, {variant.scale, variant.causal, 16});
    for (std::size_t i = 0; i < y.size(); ++i)
      ASSERT_NEAR(double(y.data()[i]), 1.0, 16 * double(std::numeric_limits<real>::epsilon()));
  }
}

/// Moves token t to position 7 t modulo T.
Tensor permuted(const Tensor& x) {
  const std::size_t T = x.shape()[1], row = x.size() / (x.shape()[0] * T);
  Tensor y = uninitialized(x.shape());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t b = i / row / T, t = i / row % T;
    y.data()[(b * T + 7 * t % T) * row + i % row] = x.data()[i];
  }
  return y;
}

TEST(LinearAttention, WithoutCausalityIsEquivariantToPermutations) {
  for (FeatureScale scale : {FeatureScale::linear, FeatureScale::logarithmic}) {
    const Inputs in = random_inputs({2, 65, 2, 3}, 5, scale, false);
    const Inputs other{permuted(in.q), permuted(in.k), permuted(in.v), in.rate};
    const Options options{scale, false, 16};
    expect_near(attend(other, options), permuted(attend(in, options)));
  }
}

/// exp(-inf) = 0 in every feature: zero output, zero gradients, no NaN.
TEST(LinearAttention, GivesZeroWhereAllFeaturesVanish) {
  for (const Variant& variant : variants) {
    SCOPED_TRACE(name_of(variant));
    Inputs in = random_inputs({1, 20, 2, 3}, 5, variant.scale, variant.decay);
    const real nothing =
        variant.scale == FeatureScale::linear ? real(0) : -std::numeric_limits<real>::infinity();
    in.k = filled(in.k.shape(), nothing);
    const auto results =
        value_and_gradients(attention_op({variant.scale, variant.causal, 8}), in.list());
    for (const Tensor& result : results) expect_all(result, 0);
  }
}

/// Weights of long logarithms underflow unless a query and a key share their largest feature. The
/// op is exact or refuses, and does both.
TEST(LinearAttention, RefusesWeightsThatUnderflow) {
  std::size_t exact = 0, refused = 0;
  for (const Variant& variant : variants) {
    if (variant.scale == FeatureScale::linear) continue;
    for (const double length : {1, 5, 20, 40, 60, 200, 600})
      for (const double rate : {0.01, 0.3, 4.0}) {
        SCOPED_TRACE(name_of(variant) + ", " + std::to_string(length));
        Inputs in = random_inputs({1, 150, 1, 3}, 6, variant.scale, variant.decay);
        for (Tensor* x : {&in.q, &in.k})
          for (real& logarithm : *x) logarithm *= real(length);
        in.rate.fill(real(rate));
        const Options options{variant.scale, variant.causal, 16};
        try {
          const Tensor y = attend(in, options);
          const Wides expected = naive(in, options)[0];
          for (std::size_t i = 0; i < y.size(); ++i)
            ASSERT_NEAR(double(y.data()[i]), double(expected[i]), is_double ? 1e-9 : 2e-4);
          ++exact;
        } catch (const std::underflow_error&) {
          ++refused;
        }
      }
  }
  EXPECT_GT(exact, 20u);
  EXPECT_GT(refused, 3u);
}

/// A key with all logarithms -inf is masked, however small the others are.
TEST(LinearAttention, KeysOfMinusInfinityAreMasked) {
  for (bool causal : {true, false}) {
    Inputs in = random_inputs({1, 20, 1, 3}, 5, FeatureScale::logarithmic, causal);
    for (std::size_t i = 0; i < in.k.size(); ++i) in.k.data()[i] -= 2000;
    Inputs masked = in;
    for (std::size_t t : {0, 1, 7, 8, 9, 15, 16, 19}) {
      std::fill_n(masked.k.data() + t * 5, 5, -std::numeric_limits<real>::infinity());
      std::fill_n(in.k.data() + t * 5, 5, real(-9000));
    }
    const Options options{FeatureScale::logarithmic, causal, 8};
    const auto expected = naive(in, options);
    const auto results = value_and_gradients(attention_op(options), masked.list());
    for (std::size_t i = 0; i < results.size(); ++i) {
      SCOPED_TRACE(i);
      const std::size_t first = causal ? 2 : 0;  // rows 0 and 1 see masked keys only
      for (std::size_t t = first; t < 20 && i < 4; ++t) {
        const std::size_t row = results[i].size() / 20;
        for (std::size_t e = t * row; e < (t + 1) * row; ++e)
          ASSERT_NEAR(double(results[i].data()[e]), double(expected[i][e]),
                      is_double ? 1e-10 : 1e-3)
              << e;
      }
    }
  }
}

TEST(LinearAttention, TakesEmptyShapes) {
  for (const Variant& variant : variants) {
    for (const Shape& sizes : {Shape{2, 0, 3, 4}, Shape{0, 5, 3, 4}, Shape{2, 5, 0, 4}}) {
      const Inputs in = random_inputs(sizes, 5, variant.scale, variant.decay);
      const auto results =
          value_and_gradients(attention_op({variant.scale, variant.causal, 16}), in.list());
      EXPECT_EQ(to_string(results[0].shape()), to_string(sizes));
      if (variant.decay && sizes[2] > 0) expect_all(results[4], 0);
    }
  }
}

TEST(LinearAttention, NamesWhatDoesNotFit) {
  const Tensor x = zeros({1, 4, 2, 3}), rate = filled({2}, 1);
  const auto error = [&](const Tensor& q, const Tensor& v, const Var& rate, bool causal) {
    return error_of([&] { linear_attention(Var(q), Var(x), v, rate, {causal, 16, {}}); });
  };
  EXPECT_EQ(error(zeros({1, 4, 2, 5}), x, {}, true),
            "[linear_attention] features must be (B, T, H, F): q (1, 4, 2, 5), k (1, 4, 2, 3)");
  EXPECT_EQ(error(x, zeros({1, 5, 2, 3}), {}, true),
            "[linear_attention] values must be (B, T, H, d) like the features: v (1, 5, 2, 3), k "
            "(1, 4, 2, 3)");
  EXPECT_EQ(error(x, x, rate, false), "[linear_attention] a time kernel needs causal attention");
  EXPECT_EQ(error(x, x, Tensor(filled({3}, 1)), true),
            "[linear_attention] one rate per head, (H) or (B, T, H): rate (3), q (1, 4, 2, 3)");
}

}  // namespace linear_attention_test
}  // namespace bochner::inline BOCHNER_PRECISION
