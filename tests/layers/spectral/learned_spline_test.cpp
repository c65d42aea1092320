#include <bochner/layers/spectral/learned_spline.hpp>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace learned_spline_test {

using namespace layer_check;

/// Returns points from below to above the interval.
Tensor grid(std::size_t count) {
  Tensor x = uninitialized({1, count, 1});
  for (std::size_t i = 0; i < count; ++i)
    x.data()[i] = real(-5 + 10 * (double(i) + 0.5) / double(count));
  return x;
}

Tensor bend(LearnedSpline& spline, const Tensor& x) {
  Tape tape({.recording = false});
  return spline.forward(tape, tape.constant(x)).value();
}

TEST(LearnedSpline, IsTheIdentityAtTheStart) {
  LearnedSpline spline(1, 1, -4, 4, {0.1, 0.2, 0.4, 0.3});
  const Tensor x = grid(100);
  op_check::expect_near(bend(spline, x), x, is_double ? 1e-13 : 2e-6);
}

TEST(LearnedSpline, IsMonotoneAndItsInverseUndoesIt) {
  LearnedSpline spline(1, 1, -4, 4, std::vector<double>(8, 0.125));
  randomize(spline, 1.5);
  const Tensor x = grid(2000), y = bend(spline, x);
  const LearnedSpline::Curve curve = spline.curve(0, 0);
  double moved = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double at = x.data()[i], value = curve.at(at).value;
    if (i > 0) {
      EXPECT_GT(y.data()[i], y.data()[i - 1]);
    }
    EXPECT_NEAR(value, double(y.data()[i]), is_double ? 1e-12 : 1e-5);
    EXPECT_NEAR(curve.inverse(value).value, at, 1e-6);
    EXPECT_NEAR(curve.inverse(value).slope / curve.at(at).slope, 1, 1e-6);
    moved = std::max(moved, std::abs(value - at));
  }
  EXPECT_GT(moved, 0.5);
}

TEST(LearnedSpline, IsUndoneBesideASteepKnot) {
  LearnedSpline spline(1, 1, -4, 4, {0.25, 0.25, 0.25, 0.25});
  parameters_of(spline).back().parameter->value()(0, 0, 0, 1) = 8;
  const LearnedSpline::Curve curve = spline.curve(0, 0);
  const Tensor y = bend(spline, grid(500));
  Tape tape({.recording = false});
  const auto [x, log_slope] = spline.inverse(tape, tape.constant(y));
  for (std::size_t i = 0; y.data()[i] < 0; ++i) {  // above, y has too few digits
    const auto [value, slope] = curve.inverse(double(y.data()[i]));
    EXPECT_NEAR(x.data()[i], value, is_double ? 1e-12 : 4e-6) << y.data()[i];
    EXPECT_NEAR(log_slope.data()[i], std::log(slope), is_double ? 1e-9 : 1e-3) << y.data()[i];
  }
}

TEST(LearnedSpline, NeedsTwoBins) {
  EXPECT_EQ(op_check::error_of([] { LearnedSpline(1, 1, 0, 1, {1}); }),
            "[spline] expected at least 2 bins, got 1");
}

}  // namespace learned_spline_test
}  // namespace bochner::inline BOCHNER_PRECISION
