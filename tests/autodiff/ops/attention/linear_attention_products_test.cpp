/// Products of coefficients and features, formed inside linear attention.
#include <bochner/autodiff/ops/sequence.hpp>

#include "autodiff/attention_reference.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace linear_attention_products_test {

using namespace attention_reference;

enum class Base { linear, logarithmic, exponential };

struct Variant {
  Base base;
  bool causal;
  std::size_t groups, copies;
};
const Variant variants[] = {
    {Base::linear, true, 1, 3},      {Base::linear, false, 2, 4},
    {Base::logarithmic, true, 3, 2}, {Base::logarithmic, false, 1, 1},
    {Base::exponential, true, 1, 3}, {Base::exponential, false, 2, 2},
};
constexpr std::size_t m = 5;  // features per group

/// Returns tokens, v (B, T, H, d), coefficients of q and k, rates (H), frequencies (H, F, d).
std::vector<Tensor> random_inputs(const Variant& variant, const Shape& sizes) {
  const std::size_t B = sizes[0], T = sizes[1], H = sizes[2], d = sizes[3];
  const std::size_t F = variant.groups * m;
  const Shape tokens{B, T, H, variant.base == Base::exponential ? d : F};
  const Shape coefficients{B, T, H, variant.groups, variant.copies};
  std::vector<Tensor> in{random_tensor(tokens, 1),       random_tensor(tokens, 2),
                         random_tensor(sizes, 3),        random_tensor(coefficients, 4),
                         random_tensor(coefficients, 5), filled({H}, real(0.3)),
                         random_tensor({H, F, d}, 6)};
  if (variant.base != Base::linear) return in;
  for (std::size_t i : {0, 1, 3, 4}) {
    for (real& x : in[i]) x = std::abs(x);
  }
  return in;
}

Features base_of(Base base, const Var& tokens, const Var& w) {
  if (base == Base::exponential) return exponential_features(tokens, w, real(0.5));
  return {tokens, base == Base::linear ? FeatureScale::linear : FeatureScale::logarithmic};
}

/// Computes attention over products, chunk by chunk or, if `composed`, by ordinary ops.
Op attention_op(const Variant& variant, std::size_t chunk, bool composed) {
  return [=](Tape&, const std::vector<Var>& in) {
    const auto features = [&](std::size_t side) {
      const Features all = product_features(in[3 + side], base_of(variant.base, in[side], in[6]));
      return composed ? Features(all.values(), all.scale) : all;
    };
    return linear_attention(features(0), features(1), in[2], variant.causal ? in[5] : Var(),
                            {variant.causal, chunk, {}});
  };
}

TEST(ProductFeatures, HaveInnerProductsThatMultiply) {
  const std::size_t G = 2, S = 3;
  const Tensor c = random_tensor({1, 2, 1, G, S}, 1), base = random_tensor({1, 2, 1, G * m}, 2);
  const Tensor y = product_features(Var(c), Features(Var(base))).values().value();
  ASSERT_EQ(to_string(y.shape()), to_string(Shape{1, 2, 1, G * S * m}));
  const auto inner = [](const real* x, std::size_t from, std::size_t n, std::size_t token) {
    double sum = 0;
    for (std::size_t i = from; i < from + n; ++i) sum += double(x[i]) * double(x[token + i]);
    return sum;
  };
  double expected = 0;
  for (std::size_t g = 0; g < G; ++g)
    expected += inner(c.data(), g * S, S, G * S) * inner(base.data(), g * m, m, G * m);
  EXPECT_NEAR(inner(y.data(), 0, G * S * m, G * S * m), expected, is_double ? 1e-13 : 1e-5);
}

TEST(ProductFeatures, InAttentionEqualTheComposedOnes) {
  for (const Variant& variant : variants) {
    for (const Shape& sizes :
         {Shape{2, 33, 3, 4}, Shape{1, 1, 1, 1}, Shape{2, 70, 2, 16}, Shape{2, 0, 3, 4}}) {
      SCOPED_TRACE(to_string(sizes) + ", base " + std::to_string(int(variant.base)));
      const auto in = random_inputs(variant, sizes);
      const auto fused = value_and_gradients(attention_op(variant, 16, false), in);
      const auto composed = value_and_gradients(attention_op(variant, 16, true), in);
      for (std::size_t i = 0; i < fused.size(); ++i)
        expect_near(fused[i], composed[i], is_double ? 1e-11 : 2e-3);
    }
  }
}

TEST(ProductFeatures, GradientsEqualCentralDifferences) {
  if (!is_double) GTEST_SKIP() << "differences are taken in double";
  for (const Variant& variant : variants) {
    expect_gradients(attention_op(variant, 3, false), random_inputs(variant, {2, 7, 2, 3}));
  }
}

TEST(ProductFeatures, OfProductsAreProductsOfAllThree) {
  for (const Base base : {Base::linear, Base::logarithmic}) {
    Tape tape;
    const Var outer = tape.constant(random_tensor({2, 3, 2, 1, 2}, 1));
    const Var inner = tape.constant(random_tensor({2, 3, 2, 3, 4}, 2));
    const Features features =
        base_of(base, tape.constant(random_tensor({2, 3, 2, 3 * m}, 3)), Var());
    const Tensor y = product_features(outer, product_features(inner, features)).values().value();
    const Tensor x = features.values().value();
    for (std::size_t i = 0; i < y.size(); ++i) {
      const std::size_t j = i % m, r = i / m % 2, s = i / (2 * m) % 4, g = i / (8 * m) % 3,
                        token = i / (24 * m);
      const real a = outer.data()[token * 2 + r], b = inner.data()[(token * 3 + g) * 4 + s],
                 c = x.data()[(token * 3 + g) * m + j];
      ASSERT_NEAR(double(y.data()[i]), double(base == Base::linear ? a * b * c : a + b + c), 1e-5);
    }
  }
}

/// Coefficients and base of each group differ by up to 800, so that neither the largest coefficient
/// nor the largest base feature is part of the largest product.
TEST(ProductFeatures, StayRightWithHugeLogarithms) {
  const Variant variant{Base::logarithmic, true, 3, 2};
  auto in = random_inputs(variant, {1, 70, 2, 4});
  const RandomFunction random{3, Purpose::test, 5};
  for (std::size_t side : {0, 1}) {
    for (std::size_t group = 0; group < 70 * 2 * 3; ++group) {
      const double number = random.uniform(2 * group + side), other = random.uniform(10000 + group);
      const real apart = real(std::round(800 * number - 400));
      const real together = real(std::round(4 * other - 2));
      for (std::size_t f = 0; f < m; ++f) in[side].data()[group * m + f] += apart;
      for (std::size_t s = 0; s < 2; ++s) in[3 + side].data()[group * 2 + s] += together - apart;
    }
  }
  const auto fused = value_and_gradients(attention_op(variant, 16, false), in);
  const auto composed = value_and_gradients(attention_op(variant, 16, true), in);
  double size = 0;
  for (const real y : fused[0]) size += std::abs(double(y));
  EXPECT_GT(size, 1);
  for (std::size_t i = 0; i < fused.size(); ++i)
    expect_near(fused[i], composed[i], is_double ? 1e-10 : 3e-3);
}

TEST(ProductFeatures, HaveEqualBitsForAllThreads) {
  for (const Variant& variant : variants) {
    expect_equal_for_all_threads(attention_op(variant, 16, false),
                                 random_inputs(variant, {3, 70, 4, 8}));
  }
}

TEST(ProductFeatures, NeverLetAttentionSeeTheFutureToTheBit) {
  for (const Variant& variant : variants) {
    if (!variant.causal) continue;
    const auto in = random_inputs(variant, {1, 70, 2, 4});
    const Op op = attention_op(variant, 16, false);
    const Tensor before = value_of(op, in);
    for (std::size_t token : telling_positions(70)) {
      auto other = in;
      for (std::size_t input = 0; input < 5; ++input) {
        const std::size_t row = in[input].size() / 70;
        for (std::size_t e = 0; e < row; ++e) other[input].data()[token * row + e] += real(30 + e);
      }
      const Tensor after = value_of(op, other);
      EXPECT_EQ(std::memcmp(before.data(), after.data(), token * 8 * sizeof(real)), 0) << token;
    }
  }
}

TEST(ProductFeatures, NameWhatDoesNotFit) {
  const auto error = [](const Shape& c, const Shape& features) {
    return error_of([&] { product_features(zeros(c), Features(Var(zeros(features)))); });
  };
  const std::string wanted =
      "[product_features] coefficients must be (B, T, H, G, S), G dividing the features: c ";
  EXPECT_EQ(error({1, 4, 2, 2, 3}, {1, 4, 2, 5}),
            wanted + "(1, 4, 2, 2, 3), features (1, 4, 2, 5)");
  EXPECT_EQ(error({1, 1, 2, 1, 3}, {1, 4, 2, 5}),
            wanted + "(1, 1, 2, 1, 3), features (1, 4, 2, 5)");
  EXPECT_EQ(error({1, 4, 2, 3}, {1, 4, 2, 5}), wanted + "(1, 4, 2, 3), features (1, 4, 2, 5)");
  const Features products =
      product_features(zeros({1, 4, 2, 2, 3}), Features(Var(zeros({1, 4, 2, 6}))));
  EXPECT_EQ(error_of([&] {
              product_features(zeros({1, 4, 2, 2, 3}), products);
            }),
            "[product_features] products of products have one group: c (1, 4, 2, 2, 3)");
}

}  // namespace linear_attention_products_test
}  // namespace bochner::inline BOCHNER_PRECISION
