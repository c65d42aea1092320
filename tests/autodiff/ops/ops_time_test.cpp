#include <bochner/autodiff/compute/phase.hpp>
#include <bochner/autodiff/ops/fourier/fourier_features.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <cmath>
#include <numbers>

#include "autodiff/op_check.hpp"
#include "autodiff/op_table.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace ops_time_test {

using namespace op_check;
using Inputs = std::vector<Var>;

Times some_times(const std::vector<std::size_t>& shape) {
  Times times(shape);
  for (std::size_t i = 0; i < times.size(); ++i)
    times.data()[i] = -1.7 + 3.9 * double(i * 7919 % 101) / 101;
  return times;
}

std::vector<OpRow> rows() {
  const auto waves = [](Tape&, const Inputs& x) { return fourier_time(some_times({2, 7}), x[0]); };
  const auto many = [](Tape&, const Inputs& x) { return fourier_time(some_times({9001}), x[0]); };
  const auto none = [](Tape&, const Inputs& x) { return fourier_time(some_times({3, 0}), x[0]); };
  const auto series = [](Tape&, const Inputs& x) {
    return fourier_series(some_times({2, 7}), x[0], x[1]);
  };
  const auto long_series = [](Tape&, const Inputs& x) {
    return fourier_series(some_times({3001}), x[0], x[1]);
  };
  return {
      {"fourier_time", "", waves, {{{5}}, {{1}}}},
      {"fourier_time", "Long", many, {{{3}}}},
      {"fourier_time", "NoTimes", none, {{{3}}}},
      {"fourier_series", "", series, {{{5}, {5, 7}}, {{1}, {1, 3}}, {{2}, {2, 1}}, {{0}, {0, 3}}}},
      {"fourier_series", "Long", long_series, {{{3}, {3, 5}}}}};
}

INSTANTIATE_TEST_SUITE_P(Time, OpTest, ::testing::ValuesIn(rows()), test_name);

Tensor values(const std::vector<double>& numbers) {
  Tensor x = uninitialized({numbers.size()});
  for (std::size_t i = 0; i < numbers.size(); ++i) x.data()[i] = real(numbers[i]);
  return x;
}

TEST(FourierTime, FollowsItsFormula) {
  const Tensor w = values({0.3, -2, 11}), y = fourier_time(some_times({4}), Var(w)).value();
  for (std::size_t t = 0; t < 4; ++t) {
    for (std::size_t i = 0; i < 3; ++i) {
      const double phase = double(w.data()[i]) * some_times({4}).data()[t];
      EXPECT_NEAR(double(y(t, i)), std::cos(phase) / std::sqrt(3.0), tolerance);
      EXPECT_NEAR(double(y(t, 3 + i)), std::sin(phase) / std::sqrt(3.0), tolerance);
    }
  }
}

TEST(FourierSeries, FollowsItsFormula) {
  const Tensor w = values({0.3, -2}), a = random_tensor({2, 9}, 1);
  const Tensor y = fourier_series(some_times({4}), Var(w), Var(a)).value();
  for (std::size_t t = 0; t < 4; ++t) {
    for (std::size_t i = 0; i < 2; ++i) {
      const double phase = double(w.data()[i]) * some_times({4}).data()[t];
      EXPECT_EQ(y(t, i, 0), a(i, 0));
      for (std::size_t j = 1; j <= 4; ++j) {
        EXPECT_NEAR(double(y(t, i, j)), double(a(i, j)) * std::cos(double(j) * phase), tolerance);
        EXPECT_NEAR(double(y(t, i, 4 + j)), double(a(i, 4 + j)) * std::sin(double(j) * phase),
                    tolerance);
      }
    }
  }
}

TEST(FourierSeries, IsAsAccurateAtItsHighestMultiple) {
  constexpr std::size_t J = 64;
  const Tensor w = values({0.7, -2}), a = filled({2, 1 + 2 * J}, real(1));
  const Tensor y = fourier_series(some_times({50}), Var(w), Var(a)).value();
  for (std::size_t t = 0; t < 50; ++t) {
    for (std::size_t i = 0; i < 2; ++i) {
      const double phase = double(J) * double(w.data()[i]) * some_times({50}).data()[t];
      EXPECT_NEAR(double(y(t, i, J)), std::cos(phase), is_double ? 1e-13 : 1.2e-7);
      EXPECT_NEAR(double(y(t, i, 2 * J)), std::sin(phase), is_double ? 1e-13 : 1.2e-7);
    }
  }
}

/// Unix seconds with fractions; a plain double phase is off by 1e-7, a float one by turns.
TEST(FourierTime, LosesNoPhaseOfUnixSeconds) {
  Times times(std::vector<std::size_t>{1000});
  for (std::size_t i = 0; i < times.size(); ++i) times.data()[i] = 1.7e9 + double(i * i) / 64;
  const Tensor w = values({1e-8, 0.37, std::numbers::pi, 17.25});
  const Tensor y = fourier_time(times, Var(w)).value();
  const double limit = is_double ? 1e-9 : 2e-7;
  for (std::size_t t = 0; t < times.size(); ++t) {
    for (std::size_t i = 0; i < w.size(); ++i) {
      const long double phase = static_cast<long double>(w.data()[i]) * times.data()[t];
      ASSERT_NEAR(double(y(t, i)), double(std::cos(phase)) / 2, limit);
      ASSERT_NEAR(double(y(t, 4 + i)), double(std::sin(phase)) / 2, limit);
    }
  }
}

TEST(Phase, IsReducedToOneTurn) {
  for (double turns : {0.0, 1.0, -1.0, 1e6, -3e12}) {
    for (double part : {-3.0, -0.5, 0.25, 3.0}) {
      const double time = 2 * std::numbers::pi * turns + part;
      const double phase = reduced_phase(1, time);
      EXPECT_LE(std::abs(phase), std::numbers::pi * (1 + 1e-15));
      EXPECT_NEAR(std::sin(phase), std::sin(time), 1e-14);
      EXPECT_NEAR(std::cos(phase), std::cos(time), 1e-14);
    }
  }
}

TEST(Time, RefusesShapesThatDoNotFit) {
  EXPECT_EQ(error_of([] { fourier_time(some_times({2}), Var(zeros({0}))); }),
            "[fourier_time] w must be (m) with m >= 1: (0)");
  EXPECT_EQ(
      error_of([] {
        fourier_series(some_times({2}), Var(zeros({2})), Var(zeros({2, 4})));
      }),
      "[fourier_series] w and amplitude must be (k) and (k, 1 + 2J): w (2), amplitude (2, 4)");
}

}  // namespace ops_time_test
}  // namespace bochner::inline BOCHNER_PRECISION
