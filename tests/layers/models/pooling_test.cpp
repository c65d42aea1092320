#include <bochner/layers/models/token_models.hpp>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace pooling_test {

using namespace layer_check;

TEST(Pooling, IsDifferentiable) {
  for (const char* kind : {"mean", "cls"}) {
    for (const std::vector<std::size_t>& lengths : {std::vector<std::size_t>{}, {3, 5}}) {
      op_check::check_op(
          [&](Tape&, const std::vector<Var>& x) { return pool(kind, x[0], lengths); },
          {random_tensor({2, 5, 4}, 1)});
    }
  }
}

TEST(Pooling, TakesTheMeanOfTheTokensThatCountAndClsTheFirst) {
  const Tensor x = random_tensor({2, 3, 2}, 1);
  const auto at = [&](std::size_t b, std::size_t t) { return double(x.data()[(b * 3 + t) * 2]); };
  const Tensor all = pool("mean", x).value(), some = pool("mean", x, {3, 2}).value(),
               first = pool("cls", x).value();
  EXPECT_EQ(to_string(some.shape()), "(2, 2)");
  for (std::size_t b = 0; b < 2; ++b) {
    const double three = (at(b, 0) + at(b, 1) + at(b, 2)) / 3, two = (at(b, 0) + at(b, 1)) / 2;
    EXPECT_NEAR(all.data()[2 * b], three, 1e-6);
    EXPECT_NEAR(some.data()[2 * b], b == 0 ? three : two, 1e-6);
    EXPECT_EQ(first.data()[2 * b], real(at(b, 0)));
  }
}

TEST(Pooling, PaddingChangesNeitherValueNorGradient) {
  for (const char* kind : {"mean", "cls"}) {
    const op_check::Op pooled = [&](Tape&, const std::vector<Var>& x) {
      return pool(kind, x[0], {2, 3});
    };
    const Tensor x = random_tensor({2, 5, 4}, 1);
    Tensor padded_otherwise = x;
    for (std::size_t t = 3; t < 5; ++t) padded_otherwise(1, t, 2) += real(1000);
    const auto one = op_check::value_and_gradients(pooled, {x});
    const auto other = op_check::value_and_gradients(pooled, {padded_otherwise});
    for (std::size_t i = 0; i < 2; ++i) op_check::expect_equal_bits(one[i], other[i]);
    for (std::size_t t = 3; t < 5; ++t) EXPECT_EQ(one[1](1, t, 2), 0);
  }
}

TEST(Pooling, SaysWhatIsWrong) {
  const Tensor x = random_tensor({2, 3, 4}, 1);
  EXPECT_EQ(op_check::error_of([&] { pool("max", x); }),
            "[pool] no pooling is called \"max\"; there are: mean, cls");
  EXPECT_EQ(op_check::error_of([&] { pool("mean", x, {3}); }),
            "[pool] got 1 lengths for 2 sequences");
  EXPECT_EQ(op_check::error_of([&] {
              pool("mean", x, {3, 0});
            }),
            "[pool] a length must be between 1 and T = 3, not 0");
  EXPECT_EQ(op_check::error_of([&] {
              pool("cls", random_tensor({3, 4}, 1));
            }),
            "[pool] sequences must be (B, T, D), not (3, 4)");
}

}  // namespace pooling_test
}  // namespace bochner::inline BOCHNER_PRECISION
