#include <algorithm>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/layers/encodings/space_time.hpp>
#include <cmath>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace space_time_test {

using namespace layer_check;

constexpr double tolerance = is_double ? 1e-12 : 2e-5;
const GridAxes grid_axes = {{0, 0.25, 0.5}, {0.1, 0.35, 0.6, 0.85}};
const std::vector<double> grid_times = {0, 0.5, 2};

SpaceTimeSpec spec_of(const std::string& kind, std::size_t width = 16) {
  SpaceTimeSpec spec;
  spec.kind = kind;
  spec.width = width;
  spec.space = {.dimensions = 2, .frequencies = 3, .scale = 1};
  spec.time = {.dimensions = 1, .frequencies = 2, .scale = 0.5, .stream = 1};
  return spec;
}

std::unique_ptr<SpaceTimeEncoding> encoding_of(const std::string& kind) {
  auto encoding = make_space_time(spec_of(kind));
  initialize(*encoding, 1);
  return encoding;
}

/// Returns every node of the grid at every time, in the order of SpaceTimeEncoding::grid.
void all_points(Places& places, std::vector<double>& times) {
  const Places nodes = nodes_of(grid_axes);
  places = {2, {}};
  for (const double time : grid_times) {
    for (const double x : nodes.coordinates) places.coordinates.push_back(x);
    times.insert(times.end(), nodes.count(), time);
  }
}

TEST(SpaceTime, OnAGridEqualsPointByPoint) {
  Places places;
  std::vector<double> times;
  all_points(places, times);
  for (const std::string& kind : space_time_encodings().names()) {
    const auto encoding = encoding_of(kind);
    Tape tape;
    Tensor grid = encoding->grid(tape, grid_axes, grid_times).value();
    const Tensor points = encoding->at(tape, places, times).value();
    EXPECT_EQ(to_string(grid.shape()), to_string(Shape{3, 12, encoding->width()})) << kind;
    grid.reshape(points.shape());
    op_check::expect_near(grid, points, tolerance);
  }
}

/// The factors of all frequencies together are all that the encoding is made of.
TEST(SpaceTime, IsNothingWithoutItsFrequencies) {
  for (const std::string& kind : space_time_encodings().names()) {
    const auto encoding = encoding_of(kind);
    const std::vector<EncodedFrequency> all = encoding->frequencies();
    ASSERT_FALSE(all.empty()) << kind;
    for (const EncodedFrequency& one : all) {
      EXPECT_EQ(one.radians.size(), one.part == "joint" ? 3u : one.part == "time" ? 1u : 2u);
      for (const std::span<real> factor : one.factors) std::ranges::fill(factor, real(0));
    }
    Tape tape;
    const Tensor grid = encoding->grid(tape, grid_axes, grid_times).value();
    for (const real x : grid) EXPECT_EQ(x, 0) << kind;
  }
}

TEST(SpaceTime, GradientsReachFrequenciesAndProjection) {
  for (const std::string& kind : space_time_encodings().names()) {
    const auto encoding = encoding_of(kind);
    const Tensor x = random_tensor({3, 12, encoding->width()}, 1);
    check_layer(*encoding, x, [&](Tape& tape, const Var& factor) {
      return encoding->grid(tape, grid_axes, grid_times) * factor;
    });
    EXPECT_FALSE(parameters_of(*encoding).empty());
  }
}

/// Returns K((x, t), (y, s)) of two points.
double kernel(SpaceTimeEncoding& encoding, double x, double y, double t, double dx, double dy,
              double dt) {
  Tape tape({.recording = false});
  const Tensor rows = encoding.at(tape, {2, {x, y, x + dx, y + dy}}, {t, t + dt}).value();
  double sum = 0;
  for (std::size_t i = 0; i < encoding.width(); ++i)
    sum += double(rows.data()[i]) * double(rows.data()[encoding.width() + i]);
  return sum;
}

double far_from_shift_invariant(SpaceTimeEncoding& encoding) {
  double worst = 0;
  for (double shift : {0.7, -3.0, 12.5}) {
    const double here = kernel(encoding, 0.1, 0.2, 0.3, 0.15, -0.4, 0.8);
    const double there =
        kernel(encoding, 0.1 + shift, 0.2 - 2 * shift, 0.3 + shift, 0.15, -0.4, 0.8);
    worst = std::max(worst, std::abs(here - there));
  }
  return worst;
}

/// Takes gradient steps on an arbitrary loss.
void train(SpaceTimeEncoding& encoding) {
  for (int step = 0; step < 20; ++step) {
    Tape tape;
    const Var y = encoding.grid(tape, grid_axes, grid_times);
    const Var apart = y - tape.constant(random_tensor(y.shape(), 3));
    tape.backward(mean(square(apart)));
    for (const NamedParameter& named : parameters_of(encoding)) {
      named.parameter->value() -= named.parameter->gradient() * real(0.5);
      named.parameter->zero_gradient();
    }
  }
}

TEST(SpaceTime, KernelsDependOnDifferencesOnlyBeforeAndAfterTraining) {
  for (const char* kind : {"additive", "concatenated", "multiplicative"}) {
    const auto encoding = encoding_of(kind);
    EXPECT_LT(far_from_shift_invariant(*encoding), is_double ? 1e-12 : 1e-4) << kind;
    const double before = kernel(*encoding, 0, 0, 0, 0.3, 0.2, 0.5);
    train(*encoding);
    EXPECT_GT(std::abs(kernel(*encoding, 0, 0, 0, 0.3, 0.2, 0.5) - before), 1e-3) << kind;
    EXPECT_LT(far_from_shift_invariant(*encoding), is_double ? 1e-12 : 1e-4) << kind;
  }
}

/// A general W mixes sines of different frequencies: its kernel depends on the place.
TEST(SpaceTime, AGeneralProjectionIsNotShiftInvariant) {
  EXPECT_GT(far_from_shift_invariant(*encoding_of("fused")), 0.01);
}

/// Returns K(dx, dt) - K(dx, 0) - K(0, dt) + K(0, 0): 0 for sums of functions of space and of time.
double interaction(SpaceTimeEncoding& encoding) {
  const auto at = [&](double dx, double dt) {
    return kernel(encoding, 0.1, 0.2, 0.3, dx, 2 * dx, dt);
  };
  return at(0.2, 0.7) - at(0.2, 0) - at(0, 0.7) + at(0, 0);
}

/// Returns how the kernel depends on the place of one point and the time of the other: 0 only for
/// K_s + K_t.
double crossing(SpaceTimeEncoding& encoding) {
  const auto at = [&](double x, double t) {  // points (x, 0.3) and (0, t)
    return kernel(encoding, x, 0.2, 0.3, -x, 0.1, t - 0.3);
  };
  return at(0.4, 0.9) - at(0.1, 0.9) - at(0.4, 0.2) + at(0.1, 0.2);
}

TEST(SpaceTime, AdditiveKernelsAreSumsAndJointOnesAreNot) {
  for (const char* kind : {"additive", "concatenated"}) {
    EXPECT_NEAR(interaction(*encoding_of(kind)), 0, tolerance) << kind;
    EXPECT_NEAR(crossing(*encoding_of(kind)), 0, tolerance) << kind;
  }
  EXPECT_GT(std::abs(interaction(*encoding_of("multiplicative"))), 0.1);
  EXPECT_NEAR(interaction(*encoding_of("fused")), 0, tolerance);
  EXPECT_GT(std::abs(crossing(*encoding_of("fused"))), 0.05);
}

/// All four combinations of frequencies +-a of time and +-b of space: mean of cos(b dx + a dt) is
/// the product.
TEST(SpaceTime, IndependentEvenFrequenciesGiveAProduct) {
  const auto encoding = make_space_time(spec_of("multiplicative", 8));
  Tensor& w = parameters_of(*encoding)[0].parameter->value();  // 4 rows (t, x, y)
  for (std::size_t f = 0; f < 4; ++f) {
    w(f, 0) = real(f % 2 == 0 ? 1.5 : -1.5);
    w(f, 1) = real(f < 2 ? 2.5 : -2.5);
    w(f, 2) = real(f < 2 ? 0.7 : -0.7);
  }
  const double unit = 0.5;  // scale of time relative to space
  const double one = kernel(*encoding, 0, 0, 0, 0, 0, 0);
  const double both = kernel(*encoding, 0.3, 0.1, 2, 0.2, 0.9, 0.6);
  EXPECT_NEAR(both / one, std::cos(2.5 * 0.2 + 0.7 * 0.9) * std::cos(1.5 * unit * 0.6), tolerance);
}

/// W with channels for space or for time, never both.
TEST(FusedProjection, ABlockDiagonalWGivesTheAdditiveKernel) {
  FusedProjection fused(spec_of("fused", 10));
  Tensor& w = fused.weight().value();  // (6 + 4, 10)
  w = zeros({10, 10});
  for (std::size_t i = 0; i < 10; ++i) w(i, i) = 1;
  const auto additive = make_space_time(spec_of("concatenated", 16));
  for (const NamedParameter& named : parameters_of(*additive)) {
    if (named.name.ends_with("gain")) named.parameter->value().fill(1);
  }
  EXPECT_NEAR(crossing(fused), 0, tolerance);
  for (double t : {0.0, 1.3})
    EXPECT_NEAR(kernel(fused, 0.4, 0.1, t, 0.2, 0.3, 0.4),
                kernel(*additive, 0.4, 0.1, t, 0.2, 0.3, 0.4), tolerance);
  const Tensor block = random_tensor({6, 4}, 1);  // any W_s and W_t
  for (std::size_t i = 0; i < 24; ++i) w(i / 4, i % 4) = block.data()[i];
  for (std::size_t i = 0; i < 6; ++i) w(i, 4) = w(i, 5) = 0;
  EXPECT_NEAR(crossing(fused), 0, tolerance);
  w(9, 0) = 1;  // one shared channel
  EXPECT_GT(std::abs(crossing(fused)), 1e-3);
}

TEST(FusedProjection, WhatIsMaskedIsGoneAndStaysGone) {
  FusedProjection fused(spec_of("fused", 10));
  initialize(fused, 1);
  Tape tape;
  const Tensor all = fused.grid(tape, grid_axes, grid_times).value();
  fused.mask().fill(0);
  for (std::size_t i = 0; i < 10; ++i) fused.mask()(i, 3) = 1;
  const Var y = fused.grid(tape, grid_axes, grid_times);
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(y.data()[i], i % 10 == 3 ? all.data()[i] : real(0));
  tape.backward(sum(y));
  for (std::size_t i = 0; i < 100; ++i)
    EXPECT_EQ(fused.weight().gradient().data()[i] != 0, i % 10 == 3) << i;
}

TEST(SpaceTime, SaysWhatItCannotDo) {
  EXPECT_EQ(make_space_time(spec_of("none")), nullptr);
  EXPECT_EQ(op_check::error_of([] { make_space_time(spec_of("both")); }),
            "[space_time_encoding] no space_time_encoding is called \"both\"; there are: fused, "
            "space, time, additive, concatenated, multiplicative");
  EXPECT_EQ(op_check::error_of([] { make_space_time(spec_of("additive", 10)); }),
            "[space_time_encoding] an additive kernel requires a multiple of 4 channels, not 10");
  EXPECT_EQ(op_check::error_of([] { make_space_time(spec_of("concatenated", 10)); }),
            "[space_time_encoding] an encoding of 10 concatenated channels leaves none of 10 for "
            "the content");
}

}  // namespace space_time_test
}  // namespace bochner::inline BOCHNER_PRECISION
