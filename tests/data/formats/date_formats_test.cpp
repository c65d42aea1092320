#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/data/formats/csv_dialect.hpp>
#include <bochner/data/formats/date_formats.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <functional>

#include "data/formats/csv_check.hpp"

namespace bochner {
namespace date_formats_test {

using namespace csv_check;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr double first_day = 1642204800;  // 2022-01-15

TEST(DateFormats, ReadsUsualDates) {
  for (const char* text : {"15-01-2022",
                           "15/01/2022",
                           "1/15/2022",
                           "15.01.2022",
                           "15.1.22",
                           "2022/01/15",
                           "2022-1-15",
                           "2022.01.15",
                           "15 01 2022",
                           "15 Jan 2022",
                           "15-Jan-2022",
                           "15-JAN-22",
                           "15 Jan 22",
                           "15Jan2022",
                           "15. January 2022",
                           "Jan 15, 2022",
                           "Jan 15 2022",
                           "January 15 2022",
                           "Jan-15-2022",
                           "2022-Jan-15",
                           "2022 Jan 15",
                           "Sat Jan 15 2022",
                           "Saturday, January 15, 2022",
                           "Sat, 15 Jan 2022",
                           "20220115T000000",
                           "01-15-22"}) {
    const auto formats = possible_time_formats(text);
    ASSERT_FALSE(formats.empty()) << text;
    EXPECT_EQ(parse_time(text, formats[0]), first_day) << text;
  }
  for (const char* text : {"January 2022", "Jan 2022", "Jan-22", "Jan '22", "2022-01", "01/2022"})
    EXPECT_EQ(parse_time(text, possible_time_formats(text).at(0)), 1640995200) << text;
  for (const char* text : {"2022 Q3", "2022Q3", "2022-Q3", "Q3 2022", "Q3-2022", "Q3 22", "2022q3",
                           "2022M07", "2022M7"})
    EXPECT_EQ(parse_time(text, possible_time_formats(text).at(0)), 1656633600) << text;
  for (const char* text : {"2022-W02-6", "2022W02-6"})
    EXPECT_EQ(parse_time(text, possible_time_formats(text).at(0)), first_day) << text;
  EXPECT_EQ(parse_time("2022-W02", possible_time_formats("2022-W02").at(0)), first_day - 5 * 86400);
  EXPECT_EQ(parse_time("7 Sept 2022", possible_time_formats("7 Sept 2022").at(0)), 1662508800);
}

TEST(DateFormats, ReadsTimesOfTheDay) {
  for (const char* text : {"15/01/2022 13:45",
                           "15/01/2022 13:45:00",
                           "15/01/2022 13:45:00.000",
                           "1/15/2022 1:45 PM",
                           "1/15/2022, 1:45:00 PM",
                           "15.01.2022, 13:45",
                           "2022-01-15 01:45 PM",
                           "2022-01-15 1:45pm",
                           "15-01-2022T13:45",
                           "Jan 15, 2022 1:45 PM",
                           "Sat Jan 15 13:45:00 2022",
                           "Sat Jan 15 13:45:00 UTC 2022",
                           "Sat, 15 Jan 2022 13:45:00 GMT",
                           "Sat, 15 Jan 2022 15:45:00 +0200",
                           "15/01/2022 15:45+02:00",
                           "13:45 15/01/2022",
                           "20220115T134500Z",
                           "20220115 13:45",
                           "20220115 134500",
                           "15/01/2022 13:45 UTC"}) {
    const auto formats = possible_time_formats(text);
    ASSERT_FALSE(formats.empty()) << text;
    EXPECT_EQ(parse_time(text, formats[0]), first_day + 13.75 * 3600) << text;
  }
  EXPECT_EQ(parse_time("15/01/2022 1 PM", possible_time_formats("15/01/2022 1 PM").at(0)),
            first_day + 13 * 3600);
  EXPECT_EQ(parse_time("Sat Jan  5 13:45:00 2022", "%a %b %d %H:%M:%S %Y"),
            first_day - 10 * 86400 + 13.75 * 3600);
}

TEST(DateFormats, NamesAllOrders) {
  EXPECT_THAT(possible_time_formats("01/07/2016"), ElementsAre("%d/%m/%Y", "%m/%d/%Y"));
  EXPECT_THAT(possible_time_formats("01-02-03"), ElementsAre("%d-%m-%y", "%m-%d-%y", "%y-%m-%d"));
  EXPECT_THAT(possible_time_formats("15/01/22"), ElementsAre("%d/%m/%y", "%y/%m/%d"));
}

TEST(DateFormats, PassesOverOtherTexts) {
  for (const char* text : {"",
                           "20220115",
                           "1.5",
                           "1,5",
                           "10,11,12",
                           "1.2.3",
                           "192.168.0.1",
                           "12:30",
                           "May",
                           "Sat",
                           "a 15/01/2022",
                           "15/01-2022",
                           "32/01/2022",
                           "15/13/2022",
                           "Jan 22",
                           "15 Jan",
                           "-15/01/2022",
                           "2022Q5",
                           "2022-W3",
                           "2022-W54",
                           "W03",
                           "Q1",
                           "2022 Q1 05",
                           "15/01/2022 25:00",
                           "15 Jan 2022 CET",
                           "1-2",
                           "02-2",
                           "Jan 2022 15:00",
                           "Juli 15, 2022",
                           "555-1234",
                           "15/01/2022/3",
                           "May 5-6, 2022"})
    EXPECT_THAT(possible_time_formats(text), IsEmpty()) << text;
}

/// Returns a table of dates made of day, month and year.
std::string dates(std::size_t rows, double step,
                  const std::function<std::string(std::string, std::string, std::string)>& date) {
  std::string text = "ds,y\n";
  for (std::size_t i = 0; i < rows; ++i) {
    const std::string iso = format_time(first_day + step * double(i));
    text += date(iso.substr(8, 2), iso.substr(5, 2), iso.substr(0, 4)) + iso.substr(10, 6) + ",1\n";
  }
  return text;
}

std::vector<double> times_in(const NamedArray& table) {
  std::vector<double> times;
  for (std::size_t row = 0; row < table.values.shape()[0]; ++row)
    times.push_back(table.values(row, table.time.value()));
  return times;
}

TEST(DateFormats, AColumnDecidesTheOrder) {
  const auto day_first = [](auto d, auto m, auto y) { return d + "/" + m + "/" + y.substr(2); };
  const auto month_first = [](auto d, auto m, auto y) { return m + "-" + d + "-" + y; };
  const auto year_first = [](auto d, auto m, auto y) { return y.substr(2) + "-" + m + "-" + d; };
  std::vector<double> days;
  for (std::size_t i = 0; i < 60; ++i) days.push_back(first_day + 86400 * double(i));
  EXPECT_EQ(times_in(parse(dates(60, 86400, day_first))), days);
  EXPECT_EQ(times_in(parse(dates(60, 86400, month_first))), days);
  EXPECT_EQ(times_in(parse(dates(60, 86400, year_first))), days);
}

/// Months of two years are evenly spaced only if the day comes first; those of one year are days of
/// January in another order.
TEST(DateFormats, AnEvenStepDecidesTheOrder) {
  const auto months = [](std::size_t count) {
    std::string text = "ds,y\n";
    for (std::size_t i = 0; i < count; ++i)
      text += "01/" + std::to_string(1 + i % 12) + "/" + std::to_string(2020 + i / 12) + ",1\n";
    return text;
  };
  const std::vector<double> times = times_in(parse(months(24)));
  EXPECT_EQ(format_time(times[1]), "2020-02-01 00:00:00");
  EXPECT_EQ(format_time(times[23]), "2021-12-01 00:00:00");
  EXPECT_THAT(problem(months(12)),
              HasSubstr("\"01/1/2020\" may be a time as %d/%m/%Y or %m/%d/%Y"));
  EXPECT_THAT(problem(months(12), {.time = "ds"}), HasSubstr("may be a time as %d/%m/%Y or"));
  const CsvOptions learned{.learned_time = "ds", .learned_format = "%m/%d/%Y"};
  EXPECT_EQ(format_time(times_in(parse(months(12), learned))[1]), "2020-01-02 00:00:00");
}

/// Read as 1969 to 2068, years of two digits would jump by a century.
TEST(DateFormats, CenturiesMustBeClear) {
  const std::string text = "ds,y\nJan-62,1\nFeb-62,2\n";
  EXPECT_THAT(problem(text), HasSubstr("a.csv:2:1: column \"ds\": \"Jan-62\" has a year of two "
                                       "digits that may be of 1900 or of 2000: write four digits"));
  EXPECT_EQ(times_in(parse(text, {.time = "ds", .time_format = "%b-%y"}))[0], 2903299200);
  EXPECT_EQ(format_time(times_in(parse("ds,y\nJan-82,1\nFeb-82,2\n"))[0]), "1982-01-01 00:00:00");
}

/// One of many days is above 12.
TEST(DateFormats, OneDayDecidesTheOrder) {
  std::string text = "y,ds\n";
  for (int i = 0; i < 40; ++i) text += "1,05/0" + std::to_string(1 + i % 9) + "/2022\n";
  EXPECT_THAT(problem(text), HasSubstr("a.csv:2:3: column \"ds\": "));
  EXPECT_EQ(times_in(parse(text + "1,06/13/2022\n"))[0], 1651363200);  // May 1
}

}  // namespace date_formats_test
}  // namespace bochner
