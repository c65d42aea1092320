#include <bochner/layers/convolutions/filter.hpp>
#include <bochner/layers/recurrences/eigenvalues.hpp>
#include <cmath>
#include <complex>
#include <map>
#include <numbers>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace filters_test {

using namespace layer_check;

std::unique_ptr<Filter> filter_by(const FilterSpec& spec) {
  auto filter = filters().make(spec.kind, spec);
  initialize(*filter, 2);
  return filter;
}

Tensor kernel_of(Filter& filter, std::size_t lags) {
  Tape tape({.recording = false});
  return filter.at(tape, {lags}).value();
}

/// Future rows come first, the nearest last; then the token itself with the skip, then the past.
TEST(TwoSidedFilter, HasBothDirectionsInOneKernel) {
  for (const char* kind : {"implicit", "explicit", "exponential", "spectral"}) {
    SCOPED_TRACE(kind);
    FilterSpec spec{.kind = kind, .length = 20, .states = 3};
    spec.width = 2;
    TwoSidedFilter filter(spec, false);
    initialize(filter, 4);
    Tape tape({.recording = false});
    Filter *past = nullptr, *future = nullptr;
    for (const NamedPart& part : parts_of(filter)) {
      if (part.name == "past") past = dynamic_cast<Filter*>(part.part);
      if (part.name == "future") future = dynamic_cast<Filter*>(part.part);
    }
    const auto [kernel, ahead] = filter.rows(tape, 30);
    ASSERT_EQ(ahead, 20u);
    ASSERT_EQ(kernel.dim(0), 40u);
    const Tensor before = kernel_of(*past, 20), after = kernel_of(*future, 20);
    for (std::size_t lag = 1; lag < 20; ++lag) {
      EXPECT_EQ(kernel.value()(20 + lag, 1), before(lag, 1));
      EXPECT_NEAR(kernel.value()(20 - lag, 1), after(lag - 1, 1), 1e-6);
    }
    EXPECT_EQ(kernel.value()(20, 1), filter.past(1, 1, 1)(0, 0));
    EXPECT_NE(kernel.value()(20, 1), before(0, 1));
    EXPECT_EQ(filter.rows(tape, 5).future, 4u);
    EXPECT_EQ(filter.rows(tape, 1).kernel.dim(0), 1u);
  }
}

/// As a recurrence: x <- exp(step A) x + (exp(step A) - 1) / A u, y = 2 Re C x.
TEST(ExponentialFilter, IsADiagonalStateSpace) {
  FilterSpec spec{.kind = "exponential", .states = 4};
  spec.width = 3;
  const auto filter = filter_by(spec);
  const Tensor h = kernel_of(*filter, 700);
  std::map<std::string, Tensor> values;
  for (const NamedParameter& named : parameters_of(*filter))
    values[named.name] = named.parameter->value();
  for (std::size_t c = 0; c < 3; ++c) {
    std::vector<std::complex<double>> state(4);
    const double step = std::exp(double(values["log_step"](c, 0)));
    EXPECT_GE(2 / step, 20 * 0.999);
    EXPECT_LE(2 / step, 2000 * 1.001);
    for (std::size_t lag = 0; lag < 700; ++lag) {
      std::complex<double> y = 0;
      for (std::size_t n = 0; n < 4; ++n) {
        const std::complex<double> A(-std::exp(double(values["log_decay"](c, n))),
                                     double(values["frequency"](c, n)));
        const std::complex<double> C(values["output_re"](c, n), values["output_im"](c, n));
        state[n] *= std::exp(step * A);
        if (lag == 0) state[n] += (std::exp(step * A) - 1.0) / A;
        y += C * state[n];
      }
      ASSERT_NEAR(h(lag, c), 2 * y.real(), is_double ? 1e-12 : 1e-5) << lag;
    }
  }
}

/// As the state space S4D.
TEST(ExponentialFilter, StartsWithTheEigenvaluesAskedFor) {
  for (const char* start : {"legs", "lin", "inv"}) {
    FilterSpec spec{.kind = "exponential", .states = 4, .eigenvalues = start};
    spec.width = 2;
    const auto filter = filter_by(spec);
    const Eigenvalues expected = initial_eigenvalues(start, 4);
    std::map<std::string, const real*> values;
    for (const NamedParameter& named : parameters_of(*filter))
      values[named.name] = named.parameter->value().data();
    ASSERT_TRUE(values.contains("frequency") && values.contains("log_decay"));
    for (std::size_t i = 0; i < 8; ++i) {
      EXPECT_EQ(values["frequency"][i], real(expected.im[i % 4]));
      EXPECT_EQ(values["log_decay"][i], real(std::log(-expected.re[i % 4])));
    }
  }
}

/// The slowest state keeps all digits of a real in its kernel.
TEST(ExponentialFilter, HoldsTheInputsOfTheSlowestStates) {
  FilterSpec spec{.kind = "exponential", .states = 1, .shortest = 2e5, .longest = 2e5};
  spec.width = 1;
  const auto filter = filter_by(spec);
  std::map<std::string, double> values;
  for (const NamedParameter& named : parameters_of(*filter))
    values[named.name] = double(named.parameter->value().data()[0]);
  // C (e^z - 1) / A = step C (1 + z / 2 + z^2 / 6) to rounding, A = -1/2
  const double step = std::exp(values["log_step"]);
  EXPECT_NEAR(kernel_of(*filter, 1)(0, 0) / (2 * step * values["output_re"]),
              1 - step / 4 + step * step / 24, is_double ? 1e-12 : 1e-6);
}

/// Draws of a Gaussian estimate its characteristic function.
TEST(SpectralFilter, IsTheKernelOfItsDensityWithDecay) {
  FilterSpec spec{.kind = "spectral", .states = 4096, .shortest = 5, .longest = 80};
  spec.width = 4;
  const auto filter = filter_by(spec);
  const Tensor h = kernel_of(*filter, 60);
  for (std::size_t c = 0; c < 4; ++c) {
    const double tau = 5 * std::pow(16, double(c) / 3);
    for (std::size_t lag = 0; lag < 60; ++lag) {
      const double phase = std::numbers::pi / tau * double(lag);
      const double expected = std::sqrt(2 / tau) * std::exp(-double(lag) / tau - phase * phase / 2);
      ASSERT_NEAR(h(lag, c), expected, 2e-3) << lag;
    }
  }
}

/// As published, windows fall to 1/100 at 1.5 and 0.3 times the length.
TEST(ImplicitFilter, StartsInItsWindow) {
  FilterSpec spec;
  spec.kind = "implicit", spec.width = 3, spec.length = 1001;
  const auto filter = filters().make("implicit", spec);
  initialize(*filter, 1);
  Tape tape({.recording = false});
  const Tensor h = filter->at(tape, {1001}).value();
  for (const auto& [channel, time] : {std::pair{0, 1.5}, std::pair{1, 0.5}, std::pair{2, 0.3}}) {
    double largest = 0;  // of the windowed factor
    for (std::size_t lag = 0; lag < 1001; ++lag)
      largest = std::max(
          largest, std::abs(double(h(lag, channel))) * std::pow(100, double(lag) / 1000 / time));
    EXPECT_LT(largest, 1);
    EXPECT_GT(largest, 0.005);
  }
  const Tensor back = filter->at(tape, {1001, true}).value();
  for (std::size_t lag = 0; lag < 1001; ++lag) ASSERT_NEAR(back(1000 - lag, 1), h(lag, 1), 1e-6);
}

/// Values of each piece are stretched as by torch.nn.functional.interpolate, with ends repeated.
TEST(DyadicFilter, IsLinearBetweenTheNumbersOfEachPiece) {
  FilterSpec spec{.kind = "dyadic", .length = 30, .piece = 4};
  spec.width = 2;
  const auto filter = filter_by(spec);
  ASSERT_EQ(filter->limit(), 30u);  // pieces of 4, 4, 8 and 14 of 16 lags
  const Tensor h = kernel_of(*filter, 30);
  const Tensor& w = parameters_of(*filter)[0].parameter->value();
  const Tensor& norm = *buffers_of(*filter)[0].tensor;
  ASSERT_EQ(w.shape()[0], 16u);
  for (std::size_t c = 0; c < 2; ++c) {
    double square = 0;
    std::size_t lag = 0;
    for (const auto& [piece, spacing] : {std::pair{0, 1}, {1, 1}, {2, 2}, {3, 4}}) {
      for (int j = 0; j < 4 * spacing && lag < 30; ++j, ++lag) {
        const double place = std::clamp((j + 0.5) / spacing - 0.5, 0., 3.);
        const int left = std::min(int(place), 2);
        const double share = place - left, size = std::exp2(3 - piece);
        const double expected = size * ((1 - share) * double(w(piece * 4 + left, c)) +
                                        share * double(w(piece * 4 + left + 1, c)));
        square += expected * expected;
        ASSERT_NEAR(h(lag, c) * norm(0, c), expected, is_double ? 1e-12 : 1e-5) << lag;
      }
    }
    EXPECT_NEAR(norm(0, c), std::sqrt(square), 1e-5 * norm(0, c));
  }
}

/// For any pieces, including one longer than the kernel.
TEST(DyadicFilter, IsZeroBeyondItsLength) {
  for (const std::size_t piece : {1u, 4u, 4096u}) {
    FilterSpec spec{.kind = "dyadic", .length = 33, .piece = piece};
    spec.width = 2;
    TwoSidedFilter filter(spec, true);
    initialize(filter, 1);
    EXPECT_EQ(filter.response(64).shape()[0], 33u);
    double square = 0;
    const auto past = filter_by(spec);
    for (const real x : kernel_of(*past, 33)) square += double(x) * double(x);
    EXPECT_NEAR(square, 2, 1e-4);
  }
}

TEST(Filter, RefusesSizesOfNothing) {
  FilterSpec pieces{.kind = "dyadic", .length = 33, .piece = 0};
  EXPECT_EQ(op_check::error_of([&] { filter_by(pieces); }),
            "[filter] piece = 0: must be between 1 and 4096");
  FilterSpec features{.kind = "implicit", .length = 33};
  features.features = 4;
  EXPECT_EQ(
      op_check::error_of([&] { filter_by(features); }),
      "[implicit_filter] features = 4 must be odd: time, then cosines and sines in equal number");
}

TEST(ExplicitFilter, SquashesSmallNumbers) {
  FilterSpec spec;
  spec.kind = "explicit", spec.width = 4, spec.length = 50, spec.squash = 0.002;
  const auto filter = filters().make("explicit", spec);
  initialize(*filter, 1);
  Tape tape({.recording = false});
  const Tensor h = filter->at(tape, {50}).value();
  const Tensor& k = parameters_of(*filter)[0].parameter->value();
  std::size_t zeros = 0;
  for (std::size_t i = 0; i < h.size(); ++i) {
    const double size = std::max(0.0, std::abs(double(k.data()[i])) - 0.002);
    EXPECT_NEAR(std::abs(double(h.data()[i])), size, 1e-9);
    zeros += h.data()[i] == 0;
  }
  EXPECT_NEAR(double(zeros) / 200, 0.683, 0.17);  // normal distribution, 5 sigma
}

}  // namespace filters_test
}  // namespace bochner::inline BOCHNER_PRECISION
