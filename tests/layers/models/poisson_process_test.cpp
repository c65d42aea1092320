#include <gtest/gtest.h>

#include <bochner/base/numeric/philox.hpp>
#include <bochner/layers/models/poisson_process.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace poisson_process_test {

constexpr double day = 86400, thursday = 1700092800;  // 2023-11-16 00:00 UTC

/// Gaps of exponential lengths with a mean of half an hour; from `first` to `last` hour of the day
/// only, if these differ.
EventGaps gaps_of(std::size_t n, std::size_t first = 0, std::size_t last = 24) {
  const RandomFunction random{5, Purpose::test, 1};
  EventGaps gaps;
  double now = thursday + double(first) * 3600;
  for (std::size_t i = 0; i < n; ++i) {
    gaps.from.push_back(now);
    now -= 1800 * std::log(random.uniform(i));
    const double hours = std::fmod(now - thursday, day) / 3600;
    if (hours >= double(last)) now += (24 - hours + double(first)) * 3600;
    gaps.to.push_back(now);
    gaps.types.push_back(std::int32_t(i % 4 == 0));
  }
  return gaps;
}

TEST(WeekClock, KeepsItsTimeAndRate) {
  std::vector<double> rates(hours_of_week, 1);
  rates[3] = 2, rates[4] = 0.5, rates[167] = 0.5;
  const WeekClock clock(rates);
  EXPECT_EQ(hour_of_week(thursday), 0u);
  EXPECT_EQ(hour_of_week(-1), 167u);
  EXPECT_EQ(clock.rate(thursday + 3.5 * 3600), 2);
  EXPECT_NEAR(clock.at(thursday + 4 * 3600) - clock.at(thursday + 3 * 3600), 7200, 1e-5);
  EXPECT_NEAR(clock.at(thursday + 7 * day) - clock.at(thursday), 7 * day, 1e-5);
  for (double time = thursday - 1e6; time < thursday + 1e6; time += 98765.4)
    EXPECT_NEAR(clock.time_at(clock.at(time)), time, 1e-5);
}

/// The mean of -ln density of exponential gaps is 1 + ln of their mean.
TEST(PoissonProcess, HasTheNatsOfExponentialGaps) {
  const EventGaps gaps = gaps_of(20000);
  PoissonProcess process(2, false);
  process.fit(gaps);
  EXPECT_NEAR(process.rate() * 1800, 1, 0.02);
  EXPECT_NEAR(process.frequency(1), 0.25, 1e-3);
  const auto [time, type] = process.nats(gaps);
  const double mean = (gaps.to.back() - gaps.from.front()) / 20000;
  EXPECT_NEAR(time / 20000, 1 + std::log(mean), 1e-4);
  EXPECT_NEAR(type / 20000, -0.25 * std::log(0.25) - 0.75 * std::log(0.75), 1e-4);
}

TEST(PoissonProcess, FollowsTheHoursOfTheDayWhereTheyMatter) {
  PoissonProcess constant(2, true), daily(2, true);
  constant.fit(gaps_of(3000));
  EXPECT_FALSE(constant.has_season());
  const EventGaps gaps = gaps_of(3000, 8, 16);
  daily.fit(gaps);
  EXPECT_TRUE(daily.has_season());
  EXPECT_NEAR(daily.clock().rate(thursday + 10 * 3600.0), 3, 0.5) << "8 of 24 hours, shrunk";
  EXPECT_LT(daily.clock().rate(thursday + 20 * 3600.0), 0.3);
  PoissonProcess blind(2, false);
  blind.fit(gaps);
  EXPECT_NEAR(blind.nats(gaps).time - daily.nats(gaps).time, 3000 * std::log(3.0), 300);
}

TEST(EventGaps, LeaveOutUnknownSuccessors) {
  EventGaps gaps;
  const Times times{{1, 2, 3}}, next{{2, 3, 3}};
  gaps.add(times, next, {{1, 3}, {0, 1, -1}});
  EXPECT_EQ(gaps.from, (std::vector<double>{1, 2}));
  EXPECT_EQ(gaps.to, (std::vector<double>{2, 3}));
  EXPECT_EQ(gaps.types, (std::vector<std::int32_t>{0, 1}));
  EXPECT_THROW(PoissonProcess(2, false).fit({}), std::invalid_argument);
}

}  // namespace poisson_process_test
}  // namespace bochner::inline BOCHNER_PRECISION
