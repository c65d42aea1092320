#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/data/formats/time_stamp.hpp>
#include <chrono>
#include <stdexcept>

namespace bochner {
namespace {

TEST(TimeStamp, CountsDaysAsTheStandardLibraryDoes) {
  for (int year = 0; year < 10000; year += 7)
    for (int month = 1; month <= 12; ++month) {
      const int day = 1 + (year + month) % 28;
      const std::chrono::sys_days expected =
          std::chrono::year_month_day{std::chrono::year(year), std::chrono::month(unsigned(month)),
                                      std::chrono::day(unsigned(day))};
      ASSERT_EQ(days_from_civil(year, month, day), expected.time_since_epoch().count());
    }
}

TEST(TimeStamp, ReadsIso8601) {
  EXPECT_EQ(parse_time("1970-01-01"), 0);
  EXPECT_EQ(parse_time("2016-07-01"), 1467331200);
  for (const char* text :
       {"2016-07-01 00:15:00", "2016-07-01T00:15", "2016-07-01T00:15Z", "2016-07-01T02:15+02:00",
        "2016-07-01T02:15+02", "2016-06-30 20:45:00-0330", "2016-07-01 00:15:00.000"})
    EXPECT_EQ(parse_time(text), 1467332100) << text;
  EXPECT_EQ(parse_time("1969-12-31T23:59:59.75"), -0.25);
  EXPECT_EQ(parse_time("2000-02-29"), 951782400);
}

TEST(TimeStamp, RefusesWhatIsNoTime) {
  for (const char* text : {"",
                           "2016",
                           "2016-13-01",
                           "2016-00-01",
                           "2016-02-30",
                           "2015-02-29",
                           "1900-02-29",
                           "2016-07-01 24:00",
                           "2016-07-01 00:60",
                           "2016-07-01 00:00:60",
                           "2016-07-01 00:00:00.",
                           "2016-07-01 00:00:00.5x",
                           "2016-07-01 00",
                           "2016-07-01T",
                           "2016-07-01 00:00 ",
                           "2016-7-1",
                           "2016-07-01 00:00+",
                           "2016-07-01 00:00+2",
                           "2016-07-01 00:00+02:",
                           " 2016-07-01"})
    EXPECT_FALSE(parse_time(text)) << text;
}

TEST(TimeStamp, FollowsAFormat) {
  EXPECT_EQ(parse_time("01.07.2016 00:15", "%d.%m.%Y %H:%M"), 1467332100);
  EXPECT_EQ(parse_time("07/01/16", "%m/%d/%y"), 1467331200);
  EXPECT_EQ(parse_time("01/Jul/2016:02:15:00 +0200", "%d/%b/%Y:%H:%M:%S %z"), 1467332100);
  EXPECT_EQ(parse_time("1467332100.5", "%s"), 1467332100.5);
  EXPECT_EQ(parse_time("-5%", "%s%%"), -5);
  EXPECT_EQ(parse_time("69", "%y"), -31536000);
  for (const char* text : {"1.7.2016", "01.07.2016x", "01.07.", "01,07,2016", "32.07.2016"})
    EXPECT_FALSE(parse_time(text, "%d.%m.%Y")) << text;
  EXPECT_THROW(require_time_format("%Y-%e"), std::invalid_argument);
  EXPECT_THROW(require_time_format("%Y%"), std::invalid_argument);
  EXPECT_NO_THROW(require_time_format("%%e %Y"));
}

TEST(TimeStamp, WritesWhatItReads) {
  EXPECT_EQ(format_time(1467331200), "2016-07-01 00:00:00");
  EXPECT_EQ(format_time(-0.25), "1969-12-31 23:59:59.75");
  EXPECT_EQ(format_time(1e300), "1e+300");
  for (const double day : {-719528.0, -700000.0, -1.0, 0.0, 59.0, 11016.0, 2932895.0})
    for (const double second : {0.0, 1.0, 86399.0, 0.1, 43200.000001, 86399.99999}) {
      const double time = 86400 * day + second;
      EXPECT_EQ(parse_time(format_time(time)), time) << format_time(time);
    }
}

}  // namespace
}  // namespace bochner
