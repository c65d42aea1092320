#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/data/formats/time_stamp.hpp>
#include <cstdio>
#include <ctime>
#include <stdexcept>

namespace bochner {
namespace time_stamp_test {

/// "2016-07-01"
std::string day_text(int year, int month, int day) {
  char text[32];
  std::snprintf(text, sizeof(text), "%04d-%02d-%02d", year, month, day);
  return text;
}

TEST(TimeStamp, CountsDaysAsTheCLibraryDoes) {
  for (int year = 0; year < 10000; year += 7)
    for (int month = 1; month <= 12; ++month) {
      std::tm expected = {};
      expected.tm_year = year - 1900;
      expected.tm_mon = month - 1;
      expected.tm_mday = 1 + (year + month) % 28;
      const std::string text = day_text(year, month, expected.tm_mday);
      const auto seconds = double(::timegm(&expected));
      ASSERT_EQ(parse_time(text), seconds) << text;
      ASSERT_EQ(format_time(seconds), text + " 00:00:00");
    }
}

/// Leap years by the rule of 1582, over the 400 years after which the calendar repeats itself.
TEST(TimeStamp, KnowsEveryDayOfFourCenturies) {
  const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  double seconds = 946684800;  // 2000-01-01
  for (int year = 2000; year < 2400; ++year)
    for (int month = 1; month <= 12; ++month) {
      const bool leap = year % 4 == 0 && (year % 100 != 0 || year == 2000);
      const int last = days[month - 1] + (month == 2 && leap ? 1 : 0);
      for (int day = 1; day <= last; ++day, seconds += 86400) {
        const std::string text = day_text(year, month, day);
        ASSERT_EQ(parse_time(text), seconds) << text;
        ASSERT_EQ(format_time(seconds), text + " 00:00:00");
      }
      ASSERT_FALSE(parse_time(day_text(year, month, last + 1)));
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

/// ISO 8601: week 1 has the first Thursday, so that days around new year are in the other year.
TEST(TimeStamp, ReadsQuartersAndWeeks) {
  EXPECT_EQ(parse_time("1981 Q4", "%Y Q%q"), parse_time("1981-10-01"));
  EXPECT_FALSE(parse_time("1981 Q0", "%Y Q%q"));
  EXPECT_FALSE(parse_time("1981 Q5", "%Y Q%q"));
  for (const auto& [text, day] : {std::pair{"2009-W53-7", "2010-01-03"},
                                  {"2010-W01-1", "2010-01-04"},
                                  {"2008-W01-1", "2007-12-31"},
                                  {"2020-W53-4", "2020-12-31"}})
    EXPECT_EQ(parse_time(text, "%G-W%V-%u"), parse_time(day)) << text;
  EXPECT_EQ(parse_time("2010-W01", "%G-W%V"), parse_time("2010-01-04"));
  EXPECT_FALSE(parse_time("2010-W53", "%G-W%V"));
  EXPECT_FALSE(parse_time("2010-W00", "%G-W%V"));
}

TEST(TimeStamp, RecentTimesAreFrom1990To2100) {
  EXPECT_TRUE(is_recent(*parse_time("1990-01-01")) && is_recent(*parse_time("2100-01-01")));
  EXPECT_FALSE(is_recent(*parse_time("1990-01-01") - 1) ||
               is_recent(*parse_time("2100-01-01") + 1));
  EXPECT_EQ(time_text(86400, false), "1970-01-02 00:00:00");
  EXPECT_EQ(time_text(86400, true), "86400");
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
  EXPECT_EQ(parse_time("1467332100250", "%Q"), 1467332100.25);
  EXPECT_EQ(parse_time("-5%", "%s%%"), -5);
  EXPECT_EQ(parse_time("69", "%y"), -31536000);
  for (const auto& [text, format] :
       {std::pair{"1.7.2016 0:15", "%d.%m.%Y %H:%M"},
        {"7/1/2016 12:15:00 AM", "%m/%d/%Y %I:%M:%S %p"},
        {"July 01, 2016 00:15", "%B %d, %Y %H:%M"},
        {"Fri 01 Jul 2016 00:15", "%a %d %b %Y %H:%M"},
        {"20160701T001500Z", "%Y%m%dT%H%M%S%z"},
        {"2016-07-01 02:15:00.0000000 +02:00", "%Y-%m-%d %H:%M:%S %z"}})
    EXPECT_EQ(parse_time(text, format), 1467332100) << text;
  EXPECT_EQ(parse_time("1 PM", "%I %p"), 13 * 3600);
  EXPECT_EQ(parse_time("12 pm", "%I %p"), 12 * 3600);
  EXPECT_FALSE(parse_time("13 PM", "%I %p"));
  EXPECT_FALSE(parse_time("Juli 01", "%B %d"));
  for (const char* text : {"1..2016", "01.07.2016x", "01.07.", "01,07,2016", "32.07.2016"})
    EXPECT_FALSE(parse_time(text, "%d.%m.%Y")) << text;
  EXPECT_THROW(require_time_format("%H:%M_%p"), std::invalid_argument);
  EXPECT_NO_THROW(require_time_format("%p %I:%M"));
  EXPECT_THROW(require_time_format("%Y-%e"), std::invalid_argument);
  EXPECT_THROW(require_time_format("%Y%"), std::invalid_argument);
  EXPECT_NO_THROW(require_time_format("%%e %Y"));
}

TEST(TimeStamp, WritesWhatItReads) {
  EXPECT_EQ(format_time(1467331200), "2016-07-01 00:00:00");
  EXPECT_EQ(format_time(-0.25), "1969-12-31 23:59:59.75");
  EXPECT_EQ(format_time(1e300), "1e+300");
  EXPECT_EQ(format_time(-62167219200.5), "-62167219200.5");  // before the year 0
  EXPECT_EQ(format_time(253402300800), "253402300800");      // the year 10000
  EXPECT_EQ(format_time(1727999999.9999998), "2024-10-03 23:59:59.9999998");
  for (const double day : {-719528.0, -700000.0, -1.0, 0.0, 59.0, 11016.0, 2932895.0})
    for (const double second : {0.0, 1.0, 86399.0, 0.1, 43200.000001, 86399.99999}) {
      const double time = 86400 * day + second;
      EXPECT_EQ(parse_time(format_time(time)), time) << format_time(time);
    }
}

}  // namespace time_stamp_test
}  // namespace bochner
