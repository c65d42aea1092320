#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/layers/basic/standardization.hpp>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace instance_norm_test {

using namespace layer_check;

const char* const kinds[] = {"none", "last", "mean", "revin"};

/// Returns the windows as a backbone sees them.
Tensor seen(InstanceNorm& norm, const Tensor& x) {
  Tape tape;
  return norm.apply(tape, Var(x), norm.statistics_of(Var(x))).value();
}

/// Rescales each window of each variate.
Tensor rescaled(const Tensor& x, bool scale) {
  Tensor y = x;
  for (std::size_t b = 0; b < x.shape()[0]; ++b)
    for (std::size_t v = 0; v < x.shape()[1]; ++v)
      for (std::size_t t = 0; t < x.shape()[2]; ++t)
        y(b, v, t) = x(b, v, t) * real(scale ? 1 + b + 2 * v : 1) + real(3 * v) - real(b);
  return y;
}

void expect_near(const Tensor& a, const Tensor& b, double tolerance) {
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a.data()[i], b.data()[i], tolerance);
}

TEST(InstanceNorm, IsUndoneExactlyUpToRounding) {
  const Tensor x = random_tensor({2, 3, 7}, 1);
  for (const char* kind : kinds) {
    for (const bool affine : {false, true}) {
      InstanceNorm norm({kind, affine}, 3);
      for (const NamedParameter& named : parameters_of(norm))
        for (std::size_t i = 0; i < 3; ++i) named.parameter->value().data()[i] += real(0.3 * i);
      Tape tape;
      const InstanceNorm::Statistics statistics = norm.statistics_of(Var(x));
      const Tensor back = norm.undo(tape, norm.apply(tape, Var(x), statistics), statistics).value();
      expect_near(back, x, is_double ? 1e-14 : 1e-5);
    }
  }
}

TEST(InstanceNorm, DoesNotSeeTheUnitOfAWindow) {
  const Tensor x = random_tensor({2, 3, 50}, 2);
  const double rounding = is_double ? 1e-12 : 1e-5;
  for (const char* kind : {"last", "mean", "revin"}) {
    InstanceNorm norm({kind, false}, 3);
    expect_near(seen(norm, rescaled(x, false)), seen(norm, x), rounding);
  }
  InstanceNorm revin({"revin", false}, 3);
  // The rest is the 1e-5 added to each variance.
  expect_near(seen(revin, rescaled(x, true)), seen(revin, x), 1e-4);
  InstanceNorm last({"last", false}, 3);
  EXPECT_GT(std::abs(seen(last, rescaled(x, true))(1, 2, 0) - seen(last, x)(1, 2, 0)), 0.1);
}

TEST(InstanceNorm, CentresAsItsNameSays) {
  const Tensor x = {{{1, 2, 6}}};
  InstanceNorm last({"last", false}, 1), average({"mean", false}, 1);
  EXPECT_EQ(seen(last, x), (Tensor{{{-5, -4, 0}}}));
  EXPECT_EQ(seen(average, x), (Tensor{{{-2, -1, 3}}}));
  InstanceNorm revin({"revin", false}, 1);
  EXPECT_NEAR(seen(revin, x)(0, 0, 2), 3 / std::sqrt(14.0 / 3), 1e-5);
}

TEST(InstanceNorm, AConstantWindowStaysFinite) {
  InstanceNorm norm({"revin", false}, 1);
  EXPECT_EQ(seen(norm, filled({1, 1, 4}, 7)), zeros({1, 1, 4}));
}

TEST(InstanceNorm, IsDifferentiable) {
  for (const char* kind : kinds) {
    InstanceNorm norm({kind, true}, 3);
    randomize(norm);
    check_layer(norm, random_tensor({2, 3, 4}, 3), [&](Tape& tape, const Var& x) {
      const InstanceNorm::Statistics statistics = norm.statistics_of(x);
      return norm.undo(tape, square(norm.apply(tape, x, statistics)), statistics);
    });
  }
}

TEST(InstanceNorm, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(op_check::error_of([] {
              InstanceNorm({"batch", false}, 1);
            }),
            "[instance_norm] unknown kind \"batch\"; choose none, last, mean, revin");
}

}  // namespace instance_norm_test
}  // namespace bochner::inline BOCHNER_PRECISION
