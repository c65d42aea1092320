#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bochner/data/labelled/augmentations.hpp>
#include <cmath>
#include <numeric>

namespace bochner {
namespace views_test {

using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::Le;

const ViewsSpec nothing{.shift = 0,
                        .rotate = 0,
                        .scale = 0,
                        .shear = 0,
                        .erase = 0,
                        .noise = 0,
                        .crop = 0,
                        .warp = 0,
                        .drop = 0,
                        .gaps = 0};

Draws draws(std::uint64_t example = 0, std::uint64_t step = 0) {
  return view_draws({.seed = 5, .step = step}, example);
}

std::vector<float> random_pixels(std::size_t n) {
  const RandomFunction random{3, Purpose::test, 1};
  std::vector<float> pixels(n);
  for (std::size_t i = 0; i < n; ++i) pixels[i] = float(random.uniform(i));
  return pixels;
}

LabelledExample some_events() { return {{2, 0, 1, 1, 0, 2}, 1, {10, 11, 13, 13, 17, 20}}; }

TEST(Views, WithoutStrengthChangeNothing) {
  const std::vector<float> pixels = random_pixels(5 * 6 * 3);
  const std::vector<float> image = image_view(pixels, {5, 6, 3}, nothing, draws());
  ASSERT_EQ(image.size(), pixels.size());
  for (std::size_t i = 0; i < pixels.size(); ++i) EXPECT_FLOAT_EQ(image[i], pixels[i]);
  const std::vector<float> series = series_view(pixels, 3, nothing, draws());
  for (std::size_t i = 0; i < pixels.size(); ++i) EXPECT_NEAR(series[i], pixels[i], 1e-5);
  const LabelledExample events = event_view(some_events(), nothing, draws());
  EXPECT_EQ(events.tokens, some_events().tokens);
  EXPECT_EQ(events.times, some_events().times);
}

TEST(Views, KeepShapesAndRanges) {
  const ViewsSpec strong{.shift = 0.5, .rotate = 180, .noise = 0.5, .crop = 0.9, .warp = 0.99};
  const std::vector<float> pixels = random_pixels(7 * 4);
  for (std::uint64_t example = 0; example < 50; ++example) {
    const std::vector<float> image = image_view(pixels, {7, 4, 1}, strong, draws(example));
    EXPECT_EQ(image.size(), pixels.size());
    EXPECT_THAT(image, Each(testing::AllOf(Ge(0.0f), Le(1.0f))));
    EXPECT_EQ(series_view(pixels, 2, strong, draws(example)).size(), pixels.size());
    EXPECT_EQ(series_view({1, 2}, 2, strong, draws(example)).size(), 2u);
  }
}

/// A crop of a rising series rises at any pace: time does not run backwards.
TEST(Views, OfSeriesGoForward) {
  ViewsSpec spec = nothing;
  spec.crop = 0.7;
  spec.warp = 0.99;
  std::vector<float> rising(64);
  std::iota(rising.begin(), rising.end(), 0.0f);
  for (std::uint64_t example = 0; example < 100; ++example) {
    const std::vector<float> view = series_view(rising, 1, spec, draws(example));
    EXPECT_TRUE(std::ranges::is_sorted(view));
    EXPECT_GE(view.back() - view.front(), 0.3f * 63 - 1e-3f);
    EXPECT_LE(view.back() - view.front(), 63.001f);
  }
}

/// A missing value stays between its neighbours, and does not spread over them.
TEST(Views, OfSeriesKeepMissingValues) {
  ViewsSpec spec = nothing;
  spec.crop = 0.5;
  std::vector<float> series(40, 1.0f);
  for (std::size_t t = 0; t < 40; t += 2) series[t] = std::nanf("");
  std::size_t missing = 0;
  for (std::uint64_t example = 0; example < 100; ++example)
    for (const float value : series_view(series, 1, spec, draws(example)))
      missing += std::size_t(std::isnan(value));
  EXPECT_NEAR(double(missing), 2000, 100);
}

TEST(AugmentedSeries, LoseTheirShareOfValues) {
  const std::vector<float> series(1000, 2.0f);
  const ViewPass pass{.seed = 5, .step = 3};
  EXPECT_EQ(augmented_series(series, 2, {}, pass, 7), series);
  const auto gappy = [&](const ViewPass& of) {
    std::size_t missing = 0;
    for (const float value : augmented_series(series, 2, {.missing = 0.3}, of, 7))
      missing += std::size_t(std::isnan(value)) * (value != 2.0f);
    return double(missing);
  };
  EXPECT_NEAR(gappy(pass), 300, 5 * std::sqrt(210.0));
  EXPECT_EQ(gappy(pass), gappy(pass));
  EXPECT_THAT(augmented_series({}, 2, {.noise = 1}, pass, 7), testing::IsEmpty());
}

TEST(Views, OfEventsKeepTheirOrder) {
  const ViewsSpec spec{.crop = 0.5, .drop = 0.9, .gaps = 1};
  const LabelledExample events = some_events();
  for (std::uint64_t example = 0; example < 200; ++example) {
    const LabelledExample view = event_view(events, spec, draws(example));
    ASSERT_GE(view.tokens.size(), 1u);
    EXPECT_EQ(view.tokens.size(), view.times.size());
    EXPECT_TRUE(std::ranges::is_sorted(view.times));
    EXPECT_GE(view.times.front(), 10);
    EXPECT_EQ(view.label, 1);
    auto place = events.tokens.begin();
    for (const std::int32_t type : view.tokens) {
      place = std::find(place, events.tokens.end(), type);
      ASSERT_NE(place, events.tokens.end());
      ++place;
    }
  }
  EXPECT_THAT(event_view({{3}, 0, {7}}, spec, draws()).tokens, ElementsAre(3));
}

/// Events are dropped with the configured probability; at least one of each sequence remains.
TEST(Views, OfEventsLeaveOutTheirShare) {
  ViewsSpec spec = nothing;
  spec.drop = 0.3;
  LabelledExample events;
  for (int i = 0; i < 101; ++i) {
    events.tokens.push_back(0);
    events.times.push_back(i);
  }
  double kept = 0;
  for (std::uint64_t example = 0; example < 100; ++example)
    kept += double(event_view(events, spec, draws(example)).tokens.size()) - 1;
  EXPECT_NEAR(kept, 7000, 5 * std::sqrt(10000 * 0.3 * 0.7));
}

TEST(Views, DependOnIntegersOnly) {
  const std::vector<float> pixels = random_pixels(8 * 8);
  const auto view = [&](const ViewPass& pass, std::uint64_t example) {
    return image_view(pixels, {8, 8, 1}, {}, view_draws(pass, example));
  };
  const ViewPass pass{.seed = 1, .step = 7};
  const std::vector<float> first = view(pass, 3);
  EXPECT_EQ(view(pass, 3), first);
  EXPECT_NE(view(pass, 4), first);
  EXPECT_NE(view({.seed = 2, .step = 7}, 3), first);
  EXPECT_NE(view({.seed = 1, .step = 8}, 3), first);
  EXPECT_NE(view({.seed = 1, .step = 7, .held_out = true}, 3), first);
  EXPECT_NE(view({.seed = 1, .step = 7, .view = 1}, 3), first);
}

/// A quarter turn would be exact, but the angle is random, so a symmetric disc is rotated.
TEST(Views, TurnAroundTheMiddle) {
  ViewsSpec spec = nothing;
  spec.rotate = 180;
  constexpr std::size_t side = 41;
  std::vector<float> disc(side * side);
  for (std::size_t i = 0; i < disc.size(); ++i) {
    const double x = double(i % side) - 20, y = double(i / side) - 20;
    disc[i] = float(std::exp(-(x * x + y * y) / 50));
  }
  for (std::uint64_t example = 0; example < 20; ++example) {
    const std::vector<float> view = image_view(disc, {side, side, 1}, spec, draws(example));
    for (std::size_t i = 0; i < disc.size(); ++i) EXPECT_NEAR(view[i], disc[i], 0.02);
  }
}

/// Shifts are in fractions of the side along which it moves.
TEST(Views, ShiftImagesByPartsOfTheirOwnSides) {
  ViewsSpec spec = nothing;
  spec.shift = 0.5;
  const ImageShape wide{2, 40, 1};
  std::vector<float> ramp(80);
  for (std::size_t i = 0; i < 80; ++i) ramp[i] = float(i % 40) / 40;
  double farthest = 0;
  for (std::uint64_t example = 0; example < 50; ++example)
    farthest = std::max(farthest,
                        std::abs(double(image_view(ramp, wide, spec, draws(example))[20]) - 0.5));
  EXPECT_GT(farthest, 0.4);
}

}  // namespace views_test
}  // namespace bochner
