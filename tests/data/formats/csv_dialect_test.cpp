#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/formats/csv_dialect.hpp>
#include <cmath>

#include "data/formats/csv_check.hpp"

namespace bochner {
namespace csv_dialect_test {

using namespace csv_check;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

CsvDialect dialect_of(const std::string& text, const CsvOptions& options = {}) {
  return csv_dialect(text, "a.csv", options);
}

TEST(CsvDialect, FindsTheDelimiter) {
  EXPECT_EQ(dialect_of("a,b\n1,2\n").delimiter, ',');
  EXPECT_EQ(dialect_of("a;b\n1;2\n").delimiter, ';');
  EXPECT_EQ(dialect_of("a\tb\n1\t2\n").delimiter, '\t');
  EXPECT_EQ(dialect_of("a|b\n1|2\n").delimiter, '|');
  EXPECT_EQ(dialect_of("x\n5\n7\n").delimiter, ',');
  EXPECT_EQ(dialect_of("").delimiter, ',');
  EXPECT_EQ(dialect_of("note,x\n\"a;b;c\",1\n\"d;e;f\",2\n").delimiter, ',');
  EXPECT_EQ(dialect_of("when;x;y\n2024-01-01 00:00;1,5;2,5\n2024-01-02 00:00;3,5;4,5\n").delimiter,
            ';');
}

/// Commas within currencies delimit nothing, also without a header.
TEST(CsvDialect, FindsTheDelimiterBetweenUnits) {
  const std::string text = "Jun-03\t€9283,13\tUSD 5,32\nJul-03\t€10001,62\tUSD 5,64\n";
  EXPECT_EQ(dialect_of(text).delimiter, '\t');
  EXPECT_THAT(numbers(parse(text)),
              ElementsAre(1054425600, 9283.13, 5.32, 1057017600, 10001.62, 5.64));
}

TEST(CsvDialect, SecondsHaveTheDecimalComma) {
  const CsvOptions seconds{.time = "t", .time_format = "%s"};
  EXPECT_THAT(numbers(parse("t;x\n0,25;1,5\n1,75;2,5\n", seconds)),
              ElementsAre(0.25, 1.5, 1.75, 2.5));
}

TEST(CsvDialect, FindsTheDecimalComma) {
  const NamedArray table = parse("day;load;n\n2024-01-01;1,5;1\n2024-01-02;-2,25;2\n");
  EXPECT_THAT(numbers(table), ElementsAre(1704067200, 1.5, 1, 1704153600, -2.25, 2));
  EXPECT_THAT(numbers(parse("x\ty\n1,5\t2\n")), ElementsAre(1.5, 2));
  EXPECT_THAT(numbers(parse("x,y\n\"1,5\",2\n\"3,25\",4\n")), ElementsAre(1.5, 2, 3.25, 4));
  EXPECT_EQ(dialect_of("x;y\n1.5;2\n").decimal, '.');
  EXPECT_EQ(dialect_of("x;y\n1;2\n").decimal, '.');
  EXPECT_EQ(dialect_of("x;y\n1,5;2.5\n").decimal, '.');  // either could be a decimal mark
}

/// Separates thousands if no other reading is possible.
TEST(CsvDialect, PassesOverSeparatorsOfThousands) {
  EXPECT_THAT(numbers(parse("x;y\n12.181,50;1\n-1.234.567,25;2\n3,5;3\n")),
              ElementsAre(12181.5, 1, -1234567.25, 2, 3.5, 3));
  EXPECT_THAT(numbers(parse("x;y\n12,181.50;1\n1,234,567;2\n")),
              ElementsAre(12181.5, 1, 1234567, 2));
  EXPECT_THAT(numbers(parse("x,y\n\"12,181.50\",1\n")), ElementsAre(12181.5, 1));
  EXPECT_THAT(problem("x;y\n1,5;1\n2,5;3\n1.18,5;2\n"), StartsWith("a.csv:4:1: column \"x\": "));
  EXPECT_THAT(problem("x;y\n1,5;1\n2,5;3\n1.181,5.5;2\n"), StartsWith("a.csv:4:1: column \"x\": "));
}

/// 1,234 may be a thousand with any delimiter.
TEST(CsvDialect, TakesNoThousandForADecimal) {
  EXPECT_THAT(problem("x,y\n\"1,234\",2\n\"5,678\",4\n"), StartsWith("a.csv:2:1: column \"x\": "));
  EXPECT_THAT(numbers(parse("x,y\n\"1,234\",2\n", {.decimal = ","})), ElementsAre(1.234, 2));
  for (const char* between : {";", "\t", "|"}) {
    const std::string text = in_words("x", between, "y\n950", between, "1\n-4,330", between, "2\n");
    EXPECT_THAT(problem(text), StartsWith("a.csv:3:1: column \"x\": \"-4,330\" may have a decimal "
                                          "comma, or one between thousands"));
    EXPECT_THAT(numbers(parse(text, {.decimal = ","})), ElementsAre(950, 1, -4.33, 2));
    EXPECT_THAT(numbers(parse(text, {.decimal = "."})), ElementsAre(950, 1, -4330, 2));
  }
}

/// Points between semicolons are ambiguous: 987 next to 1.043 may be smaller.
TEST(CsvDialect, TakesNoPointBetweenThousandsForADecimal) {
  const std::string text = "x;y\n1.043;1\n987;2\n";
  EXPECT_THAT(problem(text), StartsWith("a.csv:2:1: column \"x\": \"1.043\" may have a decimal "
                                        "point, or one between thousands: set "
                                        "data.decimal (--decimal)"));
  EXPECT_THAT(numbers(parse(text, {.decimal = ","})), ElementsAre(1043, 1, 987, 2));
  EXPECT_THAT(numbers(parse(text, {.decimal = "."})), ElementsAre(1.043, 1, 987, 2));
  EXPECT_THAT(problem("day;x\n31.01.2024;1.043\n01.02.2024;2.157\n"), StartsWith("a.csv:2:12: "));
  EXPECT_THAT(problem("x;y\n1.234,00;1\n1.500;2\n"),
              StartsWith("a.csv:3:1: column \"x\": \"1.500\" may have a decimal point"));
  EXPECT_THAT(numbers(parse("x;y\n1.234,00;1\n1.500;2\n", {.decimal = ","})),
              ElementsAre(1234, 1, 1500, 2));
}

/// Resolved by 0.5 or 1043 elsewhere, or by three decimals throughout.
TEST(CsvDialect, TakesThreeDecimalsBehindAPointForThem) {
  EXPECT_THAT(numbers(parse("x;y\n1.043;1\n2.157;2\n")), ElementsAre(1.043, 1, 2.157, 2));
  EXPECT_THAT(numbers(parse("x;y\n1.043;0.5\n987;2\n")), ElementsAre(1.043, 0.5, 987, 2));
  EXPECT_THAT(numbers(parse("x;y\n1.043;1\n987;2\n1043;3\n")),
              ElementsAre(1.043, 1, 987, 2, 1043, 3));
  EXPECT_THAT(numbers(parse("x,y\n1.043,1\n987,2\n")), ElementsAre(1.043, 1, 987, 2));
}

/// Resolved by an unambiguous number of the file, or a leading zero.
TEST(CsvDialect, TakesThreeDecimalsForThem) {
  EXPECT_THAT(numbers(parse("x;y\n4,330;2\n5,25;3\n")), ElementsAre(4.33, 2, 5.25, 3));
  EXPECT_THAT(numbers(parse("x;y\n4,330;2,5\n")), ElementsAre(4.33, 2.5));
  EXPECT_THAT(numbers(parse("x;y\n0,330;2\n4,125;3\n")), ElementsAre(0.33, 2, 4.125, 3));
  EXPECT_THAT(numbers(parse("x;y\n4,330;2\n1234,125;3\n")), ElementsAre(4.33, 2, 1234.125, 3));
}

TEST(CsvDialect, FindsQuotes) {
  EXPECT_THAT(numbers(parse("'a;x';'b'\n'1';'2'\n")), ElementsAre(1, 2));
  EXPECT_THAT(parse("'a;x';'b'\n'1';'2'\n").columns, ElementsAre("a;x", "b"));
  EXPECT_THAT(parse("it's,b\n1,2\n").columns, ElementsAre("it's", "b"));
  EXPECT_THAT(parse("a\",b\n1,2\n", {.quote = "none"}).columns, ElementsAre("a\"", "b"));
  EXPECT_THAT(problem("a\",b\n1,2\n"), StartsWith("a.csv:1:2: a quote inside a field"));
}

TEST(CsvDialect, FindsTheFormatOfDates) {
  for (const char* first : {"2016-07", "2016/07/01", "01.07.2016", "01.07.2016 00:00", "Jul 2016",
                            "01 Jul 2016", "2016-07-01"})
    EXPECT_THAT(numbers(parse(std::string("t;x\n") + first + ";5\n")), ElementsAre(1467331200, 5))
        << first;
  EXPECT_THAT(numbers(parse("t;x\n07.2016;1,5\n")), ElementsAre(1467331200, 1.5));
  EXPECT_THAT(numbers(parse("t;x\n07.2016;1.5\n")), ElementsAre(1467331200, 1.5));
  EXPECT_THAT(numbers(parse("t,x\n13/07/2016,5\n")), ElementsAre(1468368000, 5));
  EXPECT_THAT(numbers(parse("t,x\n07/13/2016,5\n")), ElementsAre(1468368000, 5));
  EXPECT_EQ(problem("t,x\n01/07/2016,5\n"),
            "a.csv:2:1: column \"t\": \"01/07/2016\" may be a time as %d/%m/%Y or %m/%d/%Y: choose "
            "one with data.time_format (--time-format)");
  for (const char* first : {"7/13/2016 12:00:00 AM", "13-Jul-2016 00:00", "13 July 2016",
                            "20160713T000000Z", "2016-07-13 00:00:00.0000000 +00:00"})
    EXPECT_THAT(numbers(parse(std::string("t;x\n") + first + ";5\n")), ElementsAre(1468368000, 5))
        << first;
}

TEST(CsvDialect, MonthsBesideDecimalPointsAreDates) {
  const NamedArray table = parse("month,load\n01.2000,50.00\n02.2000,10.1987\n03.2000,60.5\n");
  EXPECT_EQ(table.time, 0u);
  EXPECT_THAT(numbers(table), ElementsAre(946684800, 50, 949363200, 10.1987, 951868800, 60.5));
  const CsvOptions load{.named_columns = {"load"}};
  EXPECT_EQ(parse("month,load\n01.2000,50.00\n", load).time, 1u);
  for (const char* other : {"1.2000", "13.2000", "01.3000", "01.200", "01.20000"})
    EXPECT_FALSE(parse(in_words("month,load\n", other, ",50.00\n")).time) << other;
  EXPECT_FALSE(parse("month,load\n01.2000,50.00\n", {.decimal = "."}).time);
  EXPECT_THAT(problem("month,load\n01.2000,50.00\n02.2000,x\n"),
              HasSubstr("; numbers such as 07.2016 were assumed to be months: set data.delimiter"));
  EXPECT_EQ(parse("rate,day\n10.1987,2016-07-01\n").time, 1u);
  EXPECT_EQ(parse("rate,day\n10.1987,13.07.2016\n").time, 1u);
  const CsvOptions named{.time = "t", .time_format = "%s"};
  EXPECT_THAT(numbers(parse("rate,t\n10.1987,5\n", named)), ElementsAre(10.1987, 5));
}

/// 1.2345 is not a month of the year 2345: its point is a decimal mark.
TEST(CsvDialect, RatesAreNoMonths) {
  const std::string text = "rate\tvolume\n1.2345\t1,234\n1.1876\t2,345\n";
  EXPECT_EQ(dialect_of(text).decimal, '.');
  EXPECT_EQ(dialect_of(text).time_format, "");
  EXPECT_THAT(problem(text), StartsWith("a.csv:2:8: column \"volume\": \"1,234\" may have"));
  EXPECT_THAT(problem("rate;x\n1.2345;0,5\n"), StartsWith("a.csv:2:8: column \"x\": \"0,5\" has"));
  EXPECT_THAT(numbers(parse("t;x\n7.2016;0,5\n")), ElementsAre(1467331200, 0.5));
}

/// Hours of a month whose thirteenth day comes late.
TEST(CsvDialect, LooksOnForTheDayThatTellsTheMonth) {
  std::string text = "t,x\n";
  for (int hour = 0; hour < 24 * 20; ++hour)
    text += "03/" + std::string(hour / 24 < 9 ? "0" : "") + std::to_string(1 + hour / 24) +
            "/2024 " + (hour % 24 < 10 ? "0" : "") + std::to_string(hour % 24) + ":00,1\n";
  EXPECT_EQ(dialect_of(text).time_format, "%m/%d/%Y %H:%M");
}

TEST(CsvDialect, DoesWhatItIsTold) {
  EXPECT_THAT(parse("a;b,c\n1,2\n", {.delimiter = ","}).columns, ElementsAre("a;b", "c"));
  EXPECT_THAT(numbers(parse("1:2\n", {.delimiter = ":"})), ElementsAre(1, 2));
  EXPECT_THAT(numbers(parse("1 2\n", {.delimiter = "space"})), ElementsAre(1, 2));
  EXPECT_THAT(problem("x;y\n1,5;2\n", {.decimal = "."}), StartsWith("a.csv:2:1: "));
  EXPECT_THROW(parse("1\n", {.delimiter = "ab"}), std::invalid_argument);
  EXPECT_THROW(parse("1\n", {.decimal = ";"}), std::invalid_argument);
  EXPECT_THROW(parse("1\n", {.quote = "x"}), std::invalid_argument);
}

TEST(CsvDialect, SaysWhereAndWhatWasGuessed) {
  EXPECT_EQ(problem("x;y\n1,5;2\n2,5;3\n3,x;4\n"),
            "a.csv:4:1: column \"x\": \"3,x\" is not a finite number; fields were assumed to be "
            "separated by "
            "\";\", numbers were assumed to have a decimal comma: set data.delimiter and "
            "data.decimal to change this");
  EXPECT_THAT(problem("x;y\n1,5;2\n3,5;4;5\n"), StartsWith("a.csv:3:1: has 3 fields"));
  EXPECT_THAT(problem("x;y\n1,5;2\n3,5;z\n"), HasSubstr("a.csv:3:5: column \"y\""));
  EXPECT_THAT(problem("x,y\n1,5\n3,z\n"), EndsWith("\"z\" is not a finite number"));
  std::string dates = "t;x\n";
  for (int i = 0; i < 12; ++i) dates += (i == 7 ? "13.2024;1\n" : "01.2024;1\n");
  EXPECT_THAT(problem(dates + "02.2024;1,5\n"), StartsWith("a.csv:9:1: column \"t\": \"13.2024\""));
}

TEST(CsvDialect, NumbersTexts) {
  const NamedArray table =
      parse("time,type,who\n0,in,7\n1,out,9\n2,in,7\n", {.texts = {"type", "who", "label"}});
  EXPECT_THAT(numbers(table), ElementsAre(0, 0, 7, 1, 1, 9, 2, 0, 7));
  ASSERT_EQ(table.texts.size(), 1u);
  EXPECT_THAT(table.texts.at(1), ElementsAre("in", "out"));
  std::string text;
  write_csv(table, [&](std::string_view piece) { text += piece; });
  EXPECT_EQ(text, "time,type,who\n0,in,7\n1,out,9\n2,in,7\n");
  EXPECT_THAT(problem("a,b\n1,x\n"), HasSubstr("column \"b\""));
  EXPECT_THAT(problem("a,b\n1,\n", {.texts = {"b"}}), HasSubstr("is a missing value"));
}

}  // namespace csv_dialect_test
}  // namespace bochner
