#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/feed_forward.hpp>
#include <bochner/autodiff/ops/shape.hpp>

#include "autodiff/op_check.hpp"
#include "autodiff/op_table.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace gated_test {

using namespace op_check;
using Inputs = std::vector<Var>;

const std::vector<Shapes> halves{{{4, 3, 6}}, {{2}}, {{0, 4}}, {{3, 0}}, {{501, 134}}};

INSTANTIATE_TEST_SUITE_P(
    Gated, OpTest,
    ::testing::Values(OpRow{"glu", "", [](Tape&, const Inputs& x) { return glu(x[0]); }, halves},
                      OpRow{"swiglu", "", [](Tape&, const Inputs& x) { return swiglu(x[0]); },
                            halves}),
    test_name);

TEST(Gated, AgreesWithItsParts) {
  const Tensor x = random_tensor({5, 34}, 1);
  const Var a = slice(x, 1, 0, 17), b = slice(x, 1, 17, 34);
  expect_near(glu(x).value(), (a * sigmoid(b)).value());
  expect_near(swiglu(x).value(), (a * silu(b)).value());
}

TEST(Gated, NamesShapesInErrors) {
  EXPECT_EQ(error_of([] { glu(zeros({2, 3})); }), "[glu] the last axis must be even: x (2, 3)");
}

}  // namespace gated_test
}  // namespace bochner::inline BOCHNER_PRECISION
