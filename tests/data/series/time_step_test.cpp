#include <gtest/gtest.h>

#include <bochner/data/formats/time_stamp.hpp>
#include <bochner/data/series/time_step.hpp>

namespace bochner {
namespace time_step_test {

std::vector<double> times_of(const std::vector<const char*>& dates) {
  std::vector<double> times;
  for (const char* date : dates) times.push_back(parse_time(date).value());
  return times;
}

std::string after(const TimeStep& step, const char* date, std::size_t count) {
  return format_time(step.after(parse_time(date).value(), count)).substr(0, 16);
}

std::size_t between(const TimeStep& step, const char* earlier, const char* later) {
  return step.between(parse_time(earlier).value(), parse_time(later).value());
}

TEST(TimeStep, OfMonthsGoesFromMonthToMonth) {
  const TimeStep step(times_of({"2020-01-01", "2020-02-01", "2020-03-01", "2020-06-01"}));
  EXPECT_EQ(step.words(), "1 month");
  EXPECT_EQ(after(step, "2020-06-01", 1), "2020-07-01 00:00");
  EXPECT_EQ(after(step, "2020-06-01", 9), "2021-03-01 00:00");
  EXPECT_EQ(between(step, "2020-03-01", "2020-06-01"), 3u);
}

TEST(TimeStep, KnowsTheLastDaysOfMonthsAndTheHour) {
  const TimeStep step(
      times_of({"2023-11-30 18:00", "2023-12-31 18:00", "2024-01-31 18:00", "2024-02-29 18:00"}));
  EXPECT_EQ(step.words(), "1 month");
  EXPECT_EQ(after(step, "2024-02-29 18:00", 1), "2024-03-31 18:00");
  EXPECT_EQ(after(step, "2024-02-29 18:00", 12), "2025-02-28 18:00");
}

TEST(TimeStep, KnowsTheEndsOfMonthsWithoutLongOnes) {
  const TimeStep step(times_of({"2023-04-30", "2023-06-30", "2023-08-31", "2023-10-31"}));
  EXPECT_EQ(after(step, "2023-10-31", 1), "2023-12-31 00:00");
  const TimeStep short_months(times_of({"2023-02-28", "2023-04-30", "2023-06-30"}));
  EXPECT_EQ(short_months.words(), "2 months");
  EXPECT_EQ(after(short_months, "2023-06-30", 1), "2023-08-31 00:00");
  const TimeStep days(times_of({"2023-01-30", "2023-02-28", "2023-03-30"}));
  EXPECT_EQ(after(days, "2023-03-30", 2), "2023-05-30 00:00");
}

/// Last days of trading: weekdays, and the day before a holiday.
TEST(TimeStep, KnowsTheLastBusinessDaysOfMonths) {
  const std::vector<const char*> dates = {"2023-09-29", "2023-10-31", "2023-11-30", "2023-12-29",
                                          "2024-01-31", "2024-02-29", "2024-03-28"};
  for (const std::size_t rows : {6u, 7u}) {
    const TimeStep step(times_of({dates.begin(), dates.begin() + std::ptrdiff_t(rows)}));
    EXPECT_EQ(step.words(), "1 month");
    EXPECT_EQ(step.season(), 12u);
    EXPECT_TRUE(step.is_valid());
    EXPECT_EQ(after(step, dates[rows - 1], 1), rows == 6 ? "2024-03-29 00:00" : "2024-04-30 00:00");
    EXPECT_EQ(after(step, "2024-02-29", 4), "2024-06-28 00:00");
    EXPECT_EQ(between(step, "2023-12-29", "2024-02-29"), 2u);
  }
}

TEST(TimeStep, KnowsTheFirstBusinessDaysOfMonths) {
  const TimeStep step(times_of({"2024-01-02", "2024-02-01", "2024-03-01", "2024-04-01",
                                "2024-05-01", "2024-06-03", "2024-07-01"}));
  EXPECT_EQ(step.words(), "1 month");
  EXPECT_EQ(after(step, "2024-07-01", 2), "2024-09-02 00:00");
}

/// Dates near the ends of months, but as often on another day of it.
TEST(TimeStep, OfDaysNearTheEndsOfMonthsIsNoMonth) {
  const TimeStep step(times_of({"2024-01-29", "2024-02-26", "2024-03-25", "2024-04-29"}));
  EXPECT_NE(step.words(), "1 month");
}

TEST(TimeStep, OfQuartersAndYears) {
  const TimeStep quarters(times_of({"1999-10-15", "2000-01-15", "2000-04-15"}));
  EXPECT_EQ(quarters.words(), "3 months");
  EXPECT_EQ(after(quarters, "2000-04-15", 2), "2000-10-15 00:00");
  const TimeStep years(times_of({"1700-07-01", "1701-07-01", "1702-07-01", "1705-07-01"}));
  EXPECT_EQ(years.words(), "12 months");
  EXPECT_EQ(between(years, "1702-07-01", "1705-07-01"), 3u);
}

TEST(TimeStep, OfBusinessDaysLeavesOutWeekendsAndHolidays) {
  const TimeStep step(times_of(
      {"2024-01-03", "2024-01-04", "2024-01-05", "2024-01-08", "2024-01-09", "2024-01-10"}));
  EXPECT_EQ(step.words(), "1 business day");
  EXPECT_TRUE(step.counts_dates());
  EXPECT_EQ(after(step, "2024-01-10", 2), "2024-01-12 00:00");
  EXPECT_EQ(after(step, "2024-01-10", 3), "2024-01-15 00:00");
  EXPECT_EQ(after(step, "1969-12-31", 2), "1970-01-02 00:00");
  EXPECT_EQ(after(step, "1969-12-31", 3), "1970-01-05 00:00");
  EXPECT_EQ(between(step, "2024-01-05", "2024-01-08"), 1u);
  EXPECT_EQ(between(step, "2024-03-28", "2024-04-02"), 1u) << "Easter";
  EXPECT_EQ(between(step, "2024-03-04", "2024-03-18"), 10u);
}

TEST(TimeStep, OfOthersIsTheMedianGap) {
  const TimeStep hours(
      times_of({"2024-01-01 00:00", "2024-01-01 01:00", "2024-01-01 02:00", "2024-01-01 03:00"}));
  EXPECT_EQ(hours.words(), "1 hour");
  EXPECT_EQ(after(hours, "2024-02-28 23:00", 2), "2024-02-29 01:00");
  EXPECT_EQ(between(hours, "2024-01-01 00:00", "2024-01-01 05:00"), 5u);
  const TimeStep days(times_of({"2024-01-01", "2024-01-02", "2024-01-03"}));
  EXPECT_EQ(days.words(), "1 day") << "no weekend tells business days";
  EXPECT_EQ(TimeStep(times_of({"2024-01-05", "2024-01-06", "2024-01-07"})).words(), "1 day");
  const TimeStep irregular({0, 1, 7, 9, 10});
  EXPECT_EQ(irregular.between(0, 100), 1u) << "no step, no gap";
  EXPECT_EQ(TimeStep().after(3, 4), 7);
}

TEST(TimeStep, KnowsRowsThatLieCloser) {
  const TimeStep hours({0, 3600, 7200, 10800});
  EXPECT_TRUE(hours.are_closer(5 * 1800.0, 5));
  EXPECT_FALSE(hours.are_closer(5 * 3600.0, 5));
  EXPECT_FALSE(hours.are_closer(0, 0));
  const TimeStep irregular({0, 1, 10, 100, 1000});
  EXPECT_FALSE(irregular.are_closer(1, 50));
}

TEST(TimeStep, SuggestsASeason) {
  const auto season = [](const std::vector<const char*>& dates) {
    return TimeStep(times_of(dates)).season();
  };
  EXPECT_EQ(season({"2024-01-01 00:00", "2024-01-01 01:00", "2024-01-01 02:00"}), 24u);
  EXPECT_EQ(season({"2024-01-01 00:00", "2024-01-01 00:15", "2024-01-01 00:30"}), 96u);
  EXPECT_EQ(season({"2024-01-06", "2024-01-07", "2024-01-08", "2024-01-09"}), 7u);
  EXPECT_EQ(season({"2024-01-01", "2024-02-01", "2024-03-01"}), 12u);
  EXPECT_EQ(season({"2024-01-01", "2024-04-01", "2024-07-01"}), 4u);
  EXPECT_EQ(season({"2024-01-01 00:00", "2024-01-01 07:00", "2024-01-01 14:00"}), 1u);
  EXPECT_EQ(TimeStep().season(), 1u);
}

/// Returns midnights in Berlin, in UTC and with their offsets.
struct Stamps {
  std::vector<double> times, offsets;
  TimeStep step() const { return TimeStep(times, WallClock(times, offsets)); }
  std::string after(std::size_t count) const {
    const double time = step().after(times.back(), count);
    return format_time(time, WallClock(times, offsets).offset(time)).substr(0, 22);
  }
};

Stamps stamps_of(const std::vector<const char*>& texts) {
  Stamps all;
  for (const char* text : texts) {
    const TimeStamp stamp = parse_stamp(text).value();
    all.times.push_back(stamp.seconds);
    all.offsets.push_back(stamp.offset.value());
  }
  return all;
}

TEST(TimeStep, OfStampsWithOffsetsIsThatOfTheWall) {
  const Stamps months =
      stamps_of({"2023-12-01T00:00+01:00", "2024-01-01T00:00+01:00", "2024-02-01T00:00+01:00",
                 "2024-03-01T00:00+01:00", "2024-04-01T00:00+02:00"});
  EXPECT_EQ(months.step().words(), "1 month");
  EXPECT_EQ(months.step().season(), 12u);
  EXPECT_EQ(months.after(1), "2024-05-01 00:00:00+02");
  EXPECT_EQ(months.step().between(months.times[3], months.times[4]), 1u);
  const Stamps days = stamps_of({"2024-03-30T00:00+01:00", "2024-03-31T00:00+01:00",
                                 "2024-04-01T00:00+02:00", "2024-04-02T00:00+02:00"});
  EXPECT_EQ(days.step().words(), "1 day");
  EXPECT_EQ(days.after(2), "2024-04-04 00:00:00+02");
  const Stamps hours = stamps_of({"2024-03-31T00:00+01:00", "2024-03-31T01:00+01:00",
                                  "2024-03-31T03:00+02:00", "2024-03-31T04:00+02:00"});
  EXPECT_EQ(hours.step().between(hours.times[1], hours.times[2]), 1u) << "clocks skip an hour";
  EXPECT_EQ(hours.after(1), "2024-03-31 05:00:00+02");
}

}  // namespace time_step_test
}  // namespace bochner
