/// One long sequence on all threads: separately summed spans equal a single pass.
#include <bochner/autodiff/ops/attention/linear_attention_parts.hpp>
#include <bochner/autodiff/ops/sequence.hpp>
#include <bochner/base/numeric/parallel.hpp>

#include "autodiff/attention_reference.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace linear_attention_spans_test {

using namespace attention_reference;

struct Variant {
  FeatureScale scale;
  int rates;  ///< 0 for none, 1 per head, 3 per token
};
const Variant variants[] = {{FeatureScale::linear, 0},
                            {FeatureScale::linear, 1},
                            {FeatureScale::logarithmic, 0},
                            {FeatureScale::logarithmic, 1},
                            {FeatureScale::logarithmic, 3}};

LinearAttentionOptions spans_of(std::size_t span, std::size_t chunk = 4,
                                std::vector<std::size_t> lengths = {}) {
  LinearAttentionOptions options;
  options.chunk = chunk;
  options.lengths = std::move(lengths);
  options.span = span;
  return options;
}

Op attention_op(FeatureScale scale, const LinearAttentionOptions& options) {
  return [=](Tape&, const std::vector<Var>& x) {
    return linear_attention({x[0], scale}, {x[1], scale}, x[2], x.size() > 3 ? x[3] : Var(),
                            options);
  };
}

Inputs random_inputs(const Shape& sizes, std::size_t F, const Variant& variant) {
  Shape features = sizes;
  features[3] = F;
  Inputs in{random_tensor(features, 1), random_tensor(features, 2), random_tensor(sizes, 3),
            zeros({0})};
  if (variant.rates == 1) in.rate = filled({sizes[2]}, real(0.1));
  if (variant.rates == 3) in.rate = random_tensor({sizes[0], sizes[1], sizes[2]}, 4);
  for (real& rate : in.rate) rate = std::abs(rate) / 8;
  for (Tensor* x : {&in.q, &in.k}) {
    for (real& value : *x) value = variant.scale == FeatureScale::linear ? std::abs(value) : value;
  }
  return in;
}

/// Makes keys rise by 60, fall by 120 and rise again, so that each span has its own unit.
void move_keys(Inputs& in) {
  const std::size_t T = in.k.shape()[1], token = in.k.size() / in.k.shape()[0] / T;
  for (std::size_t i = 0; i < in.k.size(); ++i) {
    const double t = double(i / token % T) / double(T);
    in.k.data()[i] += real(t < 0.3 ? 200 * t : t < 0.7 ? 150 - 300 * t : 200 * t - 200);
  }
}

class Threads {
 public:
  explicit Threads(std::size_t count) : before_(thread_count()) { set_thread_count(count); }
  ~Threads() { set_thread_count(before_); }

 private:
  std::size_t before_;
};

void expect_definition(const Inputs& in, const Variant& variant) {
  const Tensor g = random_tensor(in.v.shape(), 99);
  const auto expected = variant.scale == FeatureScale::linear
                            ? naive_attention<LinearKernel>(in, g, true)
                            : naive_attention<LogarithmicKernel>(in, g, true);
  for (std::size_t threads : {1, 2, 8}) {
    const Threads scope(threads);
    for (std::size_t span : {4, 12, 32}) {
      const auto results =
          value_and_gradients(attention_op(variant.scale, spans_of(span)), in.list());
      for (std::size_t i = 0; i < results.size(); ++i) {
        SCOPED_TRACE("threads " + std::to_string(threads) + ", span " + std::to_string(span) +
                     ", result " + std::to_string(i));
        expect_near(results[i], expected[i], is_double ? 1e-11 : 1e-3);
      }
    }
  }
}

TEST(LinearAttentionSpans, GiveWhatTheDefinitionGives) {
  for (const Variant& variant : variants) {
    for (std::size_t T : {3, 12, 67}) {
      SCOPED_TRACE("T " + std::to_string(T) + ", rates " + std::to_string(variant.rates));
      expect_definition(random_inputs({2, T, 2, 3}, 5, variant), variant);
    }
  }
}

TEST(LinearAttentionSpans, HaveUnitsOfTheirOwn) {
  for (const Variant& variant : variants) {
    if (variant.scale == FeatureScale::linear) continue;
    Inputs in = random_inputs({1, 67, 2, 3}, 5, variant);
    move_keys(in);
    expect_definition(in, variant);
  }
}

TEST(LinearAttentionSpans, HaveTheGradientsOfDifferences) {
  if (!is_double) GTEST_SKIP() << "differences are taken in double";
  const Threads scope(3);
  for (const Variant& variant : variants) {
    const Inputs in = random_inputs({1, 14, 2, 3}, 4, variant);
    expect_gradients(attention_op(variant.scale, spans_of(5, 2)), in.list());
    expect_gradients(attention_op(variant.scale, spans_of(4, 4)), in.list());
  }
}

TEST(LinearAttentionSpans, HaveEqualBitsForAllThreads) {
  for (const Variant& variant : variants) {
    for (std::size_t heads : {1, 4}) {  // four are interleaved, or processed in pairs or alone
      Inputs in = random_inputs({1, 300, heads, 8}, 16, variant);
      if (variant.scale == FeatureScale::logarithmic) move_keys(in);
      expect_equal_for_all_threads(attention_op(variant.scale, spans_of(32, 8)), in.list());
      expect_equal_for_all_threads(attention_op(variant.scale, spans_of(32, 8, {170})), in.list());
    }
  }
}

/// The number of threads determines which chunks are continued and which are restored.
TEST(LinearAttentionSpans, KeepEveryBitOfTheirUnits) {
  real memory[2];
  for (double unit : {1.0 / 3, -1e5 / 7, 2e-9 / 3, double(std::numeric_limits<real>::lowest())}) {
    linear_attention_parts::save_double(unit, memory);
    EXPECT_EQ(linear_attention_parts::restore_double(memory), unit);
  }
}

TEST(LinearAttentionSpans, AreThoseOfTheForwardPassWhenThreadsChange) {
  const Inputs in = random_inputs({1, 300, 4, 8}, 16, variants[3]);
  const Op op = attention_op(variants[3].scale, spans_of(32, 8));
  const auto expected = value_and_gradients(op, in.list());
  const Op changes_threads = [op](Tape& tape, const std::vector<Var>& x) {
    const Threads one(1);
    return op(tape, x);
  };
  const Threads eight(8);
  const auto results = value_and_gradients(changes_threads, in.list());
  for (std::size_t i = 0; i < results.size(); ++i) EXPECT_TRUE(same_bits(results[i], expected[i]));
}

TEST(LinearAttentionSpans, OfALongSequenceFollowFromItsLength) {
  const Variant variant{FeatureScale::logarithmic, 1};
  const Inputs in = random_inputs({1, 5000, 1, 4}, 8, variant);
  const auto one = value_and_gradients(attention_op(variant.scale, spans_of(5000, 32)), in.list());
  const Op by_length = attention_op(variant.scale, spans_of(0, 32));
  const auto many = value_and_gradients(by_length, in.list());
  bool same = true;
  for (std::size_t i = 0; i < one.size(); ++i) {
    expect_near(many[i], one[i], is_double ? 1e-11 : 1e-4);
    same = same && many[i] == one[i];
  }
  EXPECT_FALSE(same) << "the sequence was not cut";
  expect_equal_for_all_threads(by_length, in.list());
}

TEST(LinearAttentionSpans, AreOneForShortSequencesAndManyHeads) {
  const Variant variant{FeatureScale::logarithmic, 1};
  for (const Shape& sizes : {Shape{1, 4096, 1, 2}, Shape{3, 4200, 3, 2}}) {
    const Inputs in = random_inputs(sizes, 2, variant);
    const auto one =
        value_and_gradients(attention_op(variant.scale, spans_of(sizes[1], 32)), in.list());
    const auto other = value_and_gradients(attention_op(variant.scale, spans_of(0, 32)), in.list());
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i], other[i]);
  }
}

TEST(LinearAttentionSpans, HoldForExponentialFeaturesAndWhatIsBeside) {
  const auto op = [](std::size_t span) {
    return [=](Tape&, const std::vector<Var>& x) {
      return linear_attention(exponential_features(x[0], x[3], real(0.5)),
                              exponential_features(x[1], x[3], real(0.5)), x[2], {},
                              spans_of(span, 8), x[4]);
    };
  };
  const Shape tokens{1, 200, 2, 4};
  const std::vector<Tensor> in{random_tensor(tokens, 1), random_tensor(tokens, 2),
                               random_tensor(tokens, 3), random_tensor({2, 6, 4}, 4),
                               random_tensor({1, 200, 2, 5}, 5)};
  const auto one = value_and_gradients(op(200), in);
  for (std::size_t threads : {1, 4}) {
    const Threads scope(threads);
    const auto cut = value_and_gradients(op(40), in);
    for (std::size_t i = 0; i < one.size(); ++i)
      expect_near(cut[i], one[i], is_double ? 1e-11 : 1e-4);
  }
  expect_equal_for_all_threads(op(40), in);
}

}  // namespace linear_attention_spans_test
}  // namespace bochner::inline BOCHNER_PRECISION
