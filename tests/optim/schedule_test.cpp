#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/optim/schedule.hpp>
#include <numbers>

namespace bochner::inline BOCHNER_PRECISION {
namespace schedule_test {

constexpr double peak = 0.5, floor_rate = 0.125;

Schedule schedule_of(const std::string& kind, std::uint64_t warmup, std::uint64_t decay = 0) {
  return {.kind = kind, .warmup = warmup, .floor = floor_rate, .decay = decay};
}

const std::vector<std::string> kinds = {"constant",    "cosine",       "linear",
                                        "exponential", "inverse_sqrt", "wsd"};

TEST(Schedule, WarmsUpInALineThatReachesThePeak) {
  for (const std::string& kind : kinds) {
    const Schedule schedule = schedule_of(kind, 4, 8);
    EXPECT_EQ(learning_rate(schedule, peak, 0, 20), 0.125);
    EXPECT_EQ(learning_rate(schedule, peak, 1, 20), 0.25);
    EXPECT_EQ(learning_rate(schedule, peak, 2, 20), 0.375);
    EXPECT_EQ(learning_rate(schedule, peak, 3, 20), peak);
  }
}

TEST(Schedule, StartsAtThePeakWithoutWarmUp) {
  for (const std::string& kind : kinds)
    EXPECT_EQ(learning_rate(schedule_of(kind, 0, 5), peak, 0, 20), peak);
}

TEST(Schedule, ConstantStays) {
  EXPECT_EQ(learning_rate(schedule_of("constant", 4), peak, 1000000, 0), peak);
}

TEST(Schedule, CosineEqualsItsFormula) {
  const Schedule schedule = {.kind = "cosine", .warmup = 100, .floor = 1e-4};
  for (std::uint64_t s = 0; s < 1000; ++s) {
    const double expected =
        s < 100
            ? 1e-3 * double(s + 1) / 100
            : 1e-4 + (1e-3 - 1e-4) / 2 *
                         (1 + std::cos(std::numbers::pi * double(s - 100) / double(1000 - 100)));
    EXPECT_EQ(learning_rate(schedule, 1e-3, s, 1000), expected) << s;
  }
}

TEST(Schedule, CosineByHand) {
  const Schedule schedule = schedule_of("cosine", 4);
  EXPECT_EQ(learning_rate(schedule, peak, 4, 16), peak);
  EXPECT_NEAR(learning_rate(schedule, peak, 8, 16), 0.125 + 0.375 * 0.75, 1e-15);
  EXPECT_NEAR(learning_rate(schedule, peak, 10, 16), 0.3125, 1e-15);
  EXPECT_NEAR(learning_rate(schedule, peak, 12, 16), 0.125 + 0.375 * 0.25, 1e-15);
  EXPECT_EQ(learning_rate(schedule, peak, 16, 16), floor_rate);
  EXPECT_EQ(learning_rate(schedule, peak, 17, 16), floor_rate);
}

TEST(Schedule, ExponentialByHand) {
  const Schedule schedule = schedule_of("exponential", 4);
  EXPECT_NEAR(learning_rate(schedule, peak, 10, 16), 0.25, 1e-15);
  EXPECT_NEAR(learning_rate(schedule, 0.03125, 10, 16), 0.0625, 1e-15);
  EXPECT_EQ(learning_rate(schedule, peak, 16, 16), floor_rate);
  EXPECT_THROW(learning_rate({.kind = "exponential"}, peak, 0, 16), std::invalid_argument);
}

TEST(Schedule, LinearByHand) {
  const Schedule schedule = schedule_of("linear", 4);
  EXPECT_EQ(learning_rate(schedule, peak, 4, 12), peak);
  EXPECT_EQ(learning_rate(schedule, peak, 6, 12), 0.40625);
  EXPECT_EQ(learning_rate(schedule, peak, 8, 12), 0.3125);
  EXPECT_EQ(learning_rate(schedule, peak, 12, 12), floor_rate);
}

TEST(Schedule, InverseSquareRootByHand) {
  const Schedule schedule = {.kind = "inverse_sqrt", .warmup = 4, .floor = 0.05};
  EXPECT_EQ(learning_rate(schedule, peak, 15, 0), 0.25);
  EXPECT_EQ(learning_rate(schedule, peak, 63, 0), 0.125);
  EXPECT_EQ(learning_rate(schedule, peak, 1000000, 0), 0.05);
  EXPECT_EQ(learning_rate({.kind = "inverse_sqrt"}, peak, 3, 0), 0.25);
}

TEST(Schedule, WarmupStableDecayByHand) {
  const Schedule schedule = schedule_of("wsd", 4, 8);
  EXPECT_EQ(learning_rate(schedule, peak, 4, 20), peak);
  EXPECT_EQ(learning_rate(schedule, peak, 12, 20), peak);
  EXPECT_EQ(learning_rate(schedule, peak, 14, 20), 0.40625);
  EXPECT_EQ(learning_rate(schedule, peak, 16, 20), 0.3125);
  EXPECT_EQ(learning_rate(schedule, peak, 20, 20), floor_rate);
  EXPECT_EQ(learning_rate(schedule_of("wsd", 4, 0), peak, 19, 20), peak);
}

TEST(Schedule, StableDecayIsCutAtTheWarmUp) {
  for (std::uint64_t decay : {16, 17, 1000}) {
    const Schedule schedule = schedule_of("wsd", 4, decay);
    for (std::uint64_t s = 0; s <= 20; ++s)
      EXPECT_EQ(learning_rate(schedule, peak, s, 20),
                learning_rate(schedule_of("linear", 4), peak, s, 20));
  }
}

TEST(Schedule, HasNoJumps) {
  for (const std::string& kind : kinds) {
    const Schedule schedule = schedule_of(kind, 100, 300);
    for (std::uint64_t s = 1; s <= 1200; ++s) {
      const double change =
          learning_rate(schedule, peak, s, 1000) - learning_rate(schedule, peak, s - 1, 1000);
      EXPECT_LT(std::abs(change), 0.0051) << kind << " at " << s;
      EXPECT_TRUE(s < 100 || change <= 0) << kind << " at " << s;
    }
  }
}

TEST(Schedule, AWarmUpAsLongAsTheRunNeverLeavesIt) {
  for (const std::string& kind : kinds) {
    EXPECT_EQ(learning_rate(schedule_of(kind, 8, 3), peak, 7, 8), peak);
    EXPECT_EQ(learning_rate(schedule_of(kind, 16, 3), peak, 7, 8), 0.25);
  }
  EXPECT_EQ(learning_rate(schedule_of("cosine", 8), peak, 8, 8), floor_rate);
}

TEST(Schedule, NeedsTheNumberOfStepsWhereItEndsThere) {
  for (const char* kind : {"cosine", "linear", "exponential", "wsd"})
    EXPECT_THROW(learning_rate(schedule_of(kind, 4), peak, 0, 0), std::invalid_argument);
}

/// Up in the first third, down in the last.
class Trapezoid : public LearningRateCurve {
 public:
  explicit Trapezoid(const Schedule& schedule) : floor_(schedule.floor) {}
  double at(const ScheduledStep& now) const override {
    const double rest = 3 * double(now.total_steps - now.step) / double(now.total_steps);
    return floor_ + (now.peak - floor_) * std::min(1.0, rest);
  }

 private:
  double floor_;
};

TEST(Schedule, IsChosenByName) {
  EXPECT_THAT([] { learning_rate({.kind = "cosin"}, peak, 0, 1); },
              testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr(
                  "there are: constant, cosine, linear, exponential, inverse_sqrt, wsd")));
  schedules().add("trapezoid", make<Trapezoid>);
  const Schedule own{.kind = "trapezoid", .warmup = 2, .floor = floor_rate};
  EXPECT_EQ(learning_rate(own, peak, 0, 12), 0.25);
  EXPECT_EQ(learning_rate(own, peak, 7, 12), peak);
  EXPECT_EQ(learning_rate(own, peak, 10, 12), floor_rate + (peak - floor_rate) / 2);
  EXPECT_EQ(learning_rate(own, peak, 12, 12), floor_rate);
}

}  // namespace schedule_test
}  // namespace bochner::inline BOCHNER_PRECISION
