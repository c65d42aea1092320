#include <gtest/gtest.h>

#include <bochner/data/formats/time_stamp.hpp>
#include <bochner/data/series/time_step.hpp>

namespace bochner {
namespace week_slots_test {

constexpr double hour = 3600, day = 24 * hour, monday = 19723 * day;  // 2024-01-01

/// Returns hours 9 to 17 of some days, without weekdays from `closed` on.
std::vector<double> opening_hours(std::size_t days, std::size_t closed) {
  std::vector<double> times;
  for (std::size_t i = 0; i < days; ++i)
    for (std::size_t h = 9; h <= 17 && i % 7 < closed; ++h)
      times.push_back(monday + day * double(i) + hour * double(h));
  return times;
}

/// Returns each day of some weeks except Sundays.
std::vector<double> six_days(std::size_t weeks) {
  std::vector<double> times;
  for (std::size_t i = 0; i < 7 * weeks; ++i)
    if (i % 7 < 6) times.push_back(monday + day * double(i));
  return times;
}

std::string after(const TimeStep& step, const char* date, std::size_t count) {
  return format_time(step.after(parse_time(date).value(), count)).substr(0, 16);
}

std::size_t between(const TimeStep& step, const char* earlier, const char* later) {
  return step.between(parse_time(earlier).value(), parse_time(later).value());
}

TEST(WeekSlots, GoOnWhereAShopOpensAgain) {
  for (const std::size_t days : {5, 60}) {
    const TimeStep step(opening_hours(days, 7));
    EXPECT_TRUE(step.has_pauses());
    EXPECT_EQ(step.words(), "1 hour");
    EXPECT_EQ(after(step, "2024-02-29 16:00", 1), "2024-02-29 17:00");
    EXPECT_EQ(after(step, "2024-02-29 17:00", 1), "2024-03-01 09:00");
    EXPECT_EQ(after(step, "2024-02-29 17:30", 9 * 7 + 1), "2024-03-08 09:00");
    EXPECT_EQ(between(step, "2024-02-29 17:00", "2024-03-01 09:00"), 1u);
    EXPECT_EQ(between(step, "2024-02-29 15:00", "2024-03-01 10:00"), 4u) << "gaps are counted";
    EXPECT_EQ(step.season(), 9u);
  }
}

TEST(WeekSlots, LeaveWeekdaysOut) {
  const TimeStep shop(opening_hours(70, 5));
  EXPECT_EQ(after(shop, "2024-03-08 17:00", 1), "2024-03-11 09:00") << "a Monday";
  EXPECT_EQ(between(shop, "2024-03-07 17:00", "2024-03-11 09:00"), 1u) << "a holiday";
  EXPECT_EQ(between(shop, "2024-03-04 17:00", "2024-03-18 17:00"), 90u);
  EXPECT_EQ(shop.season(), 9u);
  const TimeStep days(six_days(5));
  EXPECT_TRUE(days.is_regular());
  EXPECT_EQ(after(days, "2024-03-09", 1), "2024-03-11 00:00");
  EXPECT_EQ(after(days, "1970-01-03", 1), "1970-01-05 00:00");
  EXPECT_EQ(after(days, "1969-12-31", 12), "1970-01-14 00:00");
  EXPECT_EQ(days.season(), 6u);
}

TEST(WeekSlots, AreNoneWithoutARule) {
  EXPECT_FALSE(TimeStep(six_days(2)).has_pauses()) << "two weeks show no rule";
  std::vector<double> shifts = opening_hours(30, 7), all_day;
  for (double& time : shifts)
    if (time > monday + 20 * day) time += 3 * hour;
  EXPECT_FALSE(TimeStep(shifts).has_pauses()) << "other hours at other times";
  for (std::size_t i = 0; i < 600; ++i)
    if (i % 50 != 5) all_day.push_back(monday + hour * double(i));
  EXPECT_FALSE(TimeStep(all_day).has_pauses()) << "rows are missing";
  EXPECT_EQ(TimeStep(all_day).season(), 24u);
  EXPECT_EQ(TimeStep(shifts).season(), 9u) << "rows of a day are known without a rule";
}

}  // namespace week_slots_test
}  // namespace bochner
