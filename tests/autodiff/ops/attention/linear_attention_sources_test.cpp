#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/autodiff/ops/sequence.hpp>

#include "autodiff/attention_reference.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace linear_attention_sources_test {

using namespace attention_reference;

struct Variant {
  bool causal, offset;
  double norm;
};
const Variant variants[] = {
    {true, false, 0.5}, {true, true, 0.3}, {false, true, 0.5}, {false, false, 0}};

/// Returns x of queries, x of keys, v (B, T, H, d), w (H, F, d), offset (H, F) if wanted.
std::vector<Tensor> random_inputs(const Shape& sizes, std::size_t F, bool offset) {
  const std::size_t H = sizes[2], d = sizes[3];
  std::vector<Tensor> all{random_tensor(sizes, 1), random_tensor(sizes, 2), random_tensor(sizes, 3),
                          random_tensor({H, F, d}, 4)};
  if (offset) all.push_back(random_tensor({H, F}, 5));
  return all;
}

/// Computes attention over exponential features, in chunks or, if `composed`, by ordinary ops.
Op attention_op(const Variant& variant, std::size_t chunk, bool composed) {
  return [=](Tape&, const std::vector<Var>& in) {
    const auto features = [&](const Var& x) {
      const Features all =
          exponential_features(x, in[3], real(variant.norm), variant.offset ? in[4] : Var());
      return composed ? from_logarithms(all.values()) : all;
    };
    return linear_attention(features(in[0]), features(in[1]), in[2], Var(),
                            {variant.causal, chunk, {}});
  };
}

TEST(ExponentialFeatures, HaveTheirClosedForm) {
  const auto in = random_inputs({2, 3, 2, 4}, 5, true);
  Tape tape;
  const Features features =
      exponential_features(tape.constant(in[0]), tape.constant(in[3]), real(0.3), in[4]);
  const Tensor y = features.values().value();
  ASSERT_EQ(to_string(y.shape()), to_string(features.shape()));
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t f = i % 5, token = i / 5, h = token % 2;
    double expected = in[4].data()[h * 5 + f];
    for (std::size_t e = 0; e < 4; ++e) {
      const double x = in[0].data()[token * 4 + e];
      expected += x * in[3].data()[(h * 5 + f) * 4 + e] - double(real(0.3)) * x * x;
    }
    ASSERT_NEAR(double(y.data()[i]), expected, is_double ? 1e-13 : 1e-5);
  }
}

TEST(ExponentialFeatures, InAttentionEqualTheComposedOnes) {
  for (const Variant& variant : variants) {
    for (const Shape& sizes : {Shape{2, 33, 3, 4}, Shape{1, 1, 1, 1}, Shape{2, 70, 2, 16}}) {
      for (std::size_t F : {1, 5, 16, 33}) {
        SCOPED_TRACE(to_string(sizes) + ", F " + std::to_string(F));
        const auto in = random_inputs(sizes, F, variant.offset);
        const auto fused = value_and_gradients(attention_op(variant, 16, false), in);
        const auto composed = value_and_gradients(attention_op(variant, 16, true), in);
        for (std::size_t i = 0; i < fused.size(); ++i)
          expect_near(fused[i], composed[i], is_double ? 1e-11 : 2e-3);
      }
    }
  }
}

TEST(ExponentialFeatures, GradientsEqualCentralDifferences) {
  for (const Variant& variant : variants) {
    if (!is_double) break;
    expect_gradients(attention_op(variant, 3, false),
                     random_inputs({2, 7, 2, 3}, 4, variant.offset));
  }
}

TEST(ExponentialFeatures, MayBeStoredOnOneSideOnly) {
  const auto in = random_inputs({2, 33, 3, 4}, 5, false);
  const auto op = [](bool composed) -> Op {
    return [composed](Tape&, const std::vector<Var>& x) {
      const Features keys = exponential_features(x[1], x[3], real(0.5));
      return linear_attention(from_logarithms(project_heads(x[0], x[3])),
                              composed ? from_logarithms(keys.values()) : keys, x[2], Var(), {});
    };
  };
  const auto mixed = value_and_gradients(op(false), in);
  const auto composed = value_and_gradients(op(true), in);
  for (std::size_t i = 0; i < mixed.size(); ++i)
    expect_near(mixed[i], composed[i], is_double ? 1e-11 : 1e-3);
}

TEST(ExponentialFeatures, HaveEqualBitsForAllThreads) {
  const auto in = random_inputs({3, 130, 4, 8}, 16, true);
  for (const Variant& variant : variants) {
    if (!variant.offset) continue;
    expect_equal_for_all_threads(attention_op(variant, 16, false), in);
  }
}

TEST(ExponentialFeatures, NeverLetAttentionSeeTheFutureToTheBit) {
  const auto in = random_inputs({1, 70, 2, 4}, 16, false);
  const Op op = attention_op(variants[0], 16, false);
  const Tensor before = value_of(op, in);
  for (std::size_t token : telling_positions(70)) {
    auto other = in;
    for (std::size_t input = 0; input < 3; ++input) {
      for (std::size_t e = 0; e < 8; ++e) other[input].data()[token * 8 + e] += real(30 + e);
    }
    const Tensor after = value_of(op, other);
    EXPECT_EQ(std::memcmp(before.data(), after.data(), token * 8 * sizeof(real)), 0) << token;
  }
}

TEST(ExponentialFeatures, NameWhatDoesNotFit) {
  const Tensor x = zeros({1, 4, 2, 3});
  EXPECT_EQ(error_of([&] {
              exponential_features(x, zeros({2, 5, 4}), 0);
            }),
            "[exponential_features] w must be (H, F, d) for x (B, T, H, d): w (2, 5, 4), x (1, 4, "
            "2, 3)");
  EXPECT_EQ(error_of([&] {
              exponential_features(x, zeros({2, 5, 3}), 0, Var(zeros({2, 3})));
            }),
            "[exponential_features] one offset per feature: offset (2, 3), w (2, 5, 3)");
}

}  // namespace linear_attention_sources_test
}  // namespace bochner::inline BOCHNER_PRECISION
