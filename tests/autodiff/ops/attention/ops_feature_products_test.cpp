#include <bochner/autodiff/ops/features.hpp>
#include <bochner/autodiff/ops/linalg.hpp>

#include "autodiff/op_check.hpp"
#include "autodiff/op_table.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace ops_feature_products_test {

using Inputs = std::vector<Var>;

std::vector<OpRow> rows() {
  return {
      {"hadamard",
       "",
       [](Tape&, const Inputs& x) { return hadamard(x[0]); },
       {{{3, 8}}, {{2, 3, 1}}, {{0, 4}}, {{2, 0}}, {{2500, 16}}}},
      {"feature_product",
       "",
       [](Tape&, const Inputs& x) { return feature_product(x[0], x[1]); },
       {{{2, 3, 4}, {2, 3, 5}},
        {{4}, {1}},
        {{3, 3}, {3, 3}},
        {{0, 2}, {0, 3}},
        {{3, 0}, {3, 2}},
        {{900, 7}, {900, 8}}}},
      {"packed_square",
       "",
       [](Tape&, const Inputs& x) { return packed_square(x[0]); },
       {{{3, 2, 5}}, {{4, 1}}, {{0, 3}}, {{2, 0}}, {{1100, 9}}}},
  };
}

INSTANTIATE_TEST_SUITE_P(Features, OpTest, ::testing::ValuesIn(rows()), test_name);

using namespace op_check;

/// Returns entry (i, j) of the Hadamard matrix in natural order: the parity of the common bits.
double sign_of(std::size_t i, std::size_t j) { return __builtin_popcountll(i & j) % 2 ? -1 : 1; }

TEST(Hadamard, IsTheDenseTransformAndItsOwnInverse) {
  for (std::size_t n : {1, 2, 8, 64}) {
    const Tensor x = random_tensor({3, n}, 1);
    Tensor dense = zeros({n, n});
    for (std::size_t i = 0; i < n * n; ++i)
      dense.data()[i] = real(sign_of(i / n, i % n) / std::sqrt(double(n)));
    const Var y = hadamard(x);
    expect_near(y.value(), matmul_nt(x, dense).value());
    expect_near(hadamard(y).value(), x);
  }
  EXPECT_EQ(error_of([] {
              hadamard(zeros({2, 6}));
            }),
            "[hadamard] the last axis must be a power of two long: x (2, 6)");
}

double dot(const Tensor& x, const Tensor& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += double(x.data()[i]) * double(y.data()[i]);
  return sum;
}

TEST(FeatureProduct, MultipliesInnerProducts) {
  const Tensor a = random_tensor({4}, 1), b = random_tensor({6}, 2), c = random_tensor({4}, 3),
               d = random_tensor({6}, 4);
  EXPECT_NEAR(dot(feature_product(a, b).value(), feature_product(c, d).value()),
              dot(a, c) * dot(b, d), 20 * tolerance);
  EXPECT_EQ(error_of([] {
              feature_product(zeros({2, 3}), zeros({3, 3}));
            }),
            "[feature_product] all axes but the last must be equal: a (2, 3), b (3, 3)");
}

TEST(PackedSquare, SquaresInnerProducts) {
  const Tensor x = random_tensor({7}, 1), y = random_tensor({7}, 2);
  EXPECT_NEAR(dot(packed_square(x).value(), packed_square(y).value()), std::pow(dot(x, y), 2) / 2,
              20 * tolerance);
  EXPECT_EQ(packed_square(x).size(), 28u);
}

}  // namespace ops_feature_products_test
}  // namespace bochner::inline BOCHNER_PRECISION
