#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/data/formats/csv_numbers.hpp>
#include <cmath>

#include "data/formats/csv_check.hpp"

namespace bochner {
namespace csv_numbers_test {

using namespace csv_check;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsNan;
using testing::StartsWith;

TEST(CsvNumbers, MarksBetweenGroupsOfThreeDigitsAreSkipped) {
  for (const char* text : {"2 566", "2_566", "2\u00a0566", "2\u202f566", "2\u2009566", "2\u2007566",
                           "2\xa0"
                           "566",
                           "+2 566", "2566"})
    EXPECT_EQ(parse_number(text, '.'), 2566) << text;
  EXPECT_EQ(parse_number("-12 345 678.25", '.'), -12345678.25);
  EXPECT_EQ(parse_number("2 566,5", ','), 2566.5);
  EXPECT_EQ(parse_number("2 566,5", '.'), std::nullopt);
  for (const char* other : {"1 2", "12 34", "2 56", "2 5666", "2566 123", "0 123", "2 566_123",
                            "2 566 ", " 566", "2  566", "2 566 kWh", "_566", "2-566", "2 566e3"})
    EXPECT_EQ(parse_number(other, '.'), std::nullopt) << other;
}

TEST(CsvNumbers, IndianGroupsAreSkipped) {
  EXPECT_EQ(parse_number("2,70,932", '.'), 270932);
  EXPECT_EQ(parse_number("-12,34,56,789.5", '.'), -123456789.5);
  for (const char* other : {"2,70", "270,93,200", "2,7,932", "2,70,93", "0,70,932", "2,70,9321",
                            "2,70,932,5", ",70,932"})
    EXPECT_EQ(parse_number(other, '.'), std::nullopt) << other;
  EXPECT_EQ(parse_number("2.70.932", ','), std::nullopt);
}

TEST(CsvNumbers, ColumnsOfGroupedNumbersAreNumbers) {
  EXPECT_THAT(numbers(parse("day;y\n2023-04-14;987\n2023-04-15;2 566\n")),
              ElementsAre(1681430400, 987, 1681516800, 2566));
  EXPECT_THAT(numbers(parse("x;y\n2\u00a0566,50;1\n987,25;2\n")),
              ElementsAre(2566.5, 1, 987.25, 2));
  EXPECT_THAT(numbers(parse("x,y\n\"2,70,932\",1\n\"98,766.5\",2\n")),
              ElementsAre(270932, 1, 98766.5, 2));
  EXPECT_THAT(numbers(parse("x,y\n3_566,1\n900,2\n")), ElementsAre(3566, 1, 900, 2));
  EXPECT_THAT(numbers(parse("x,y\n2 566,1\n900,2\n", {.texts = {"x"}})),
              ElementsAre(2566, 1, 900, 2));
  EXPECT_THAT(problem("x;y\n9 007 199 254 740 993;1\n"), HasSubstr("has no exact double"));
  EXPECT_THAT(problem("x;y\n1;1\n256.6 kWh;2\n"),
              StartsWith("a.csv:3:1: column \"x\": \"256.6 kWh\" has another unit than the rows "
                         "above"));
}

/// "120 200" in a table of one column may be two columns.
TEST(CsvNumbers, SpacesInTheOnlyColumnAreUnclear) {
  EXPECT_THAT(problem("load\n120 200\n121 201\n"),
              StartsWith("a.csv:2:1: column \"load\": \"120 200\" may have a space between "
                         "thousands, or between columns: set data.delimiter (--delimiter)"));
  EXPECT_THAT(numbers(parse("load\n1 200\n987\n", {.delimiter = ","})), ElementsAre(1200, 987));
  EXPECT_THAT(numbers(parse("120 200\n121 201\n", {.delimiter = "space"})),
              ElementsAre(120, 200, 121, 201));
  EXPECT_THAT(numbers(parse("load\n1\u00a0200\n987\n")), ElementsAre(1200, 987));
}

TEST(CsvNumbers, MarksOfMissingNumbersAreKnown) {
  for (const char* mark : {"", "None", "none", "-", "?", ".", "#N/A", "N/A", "n/a", "NA", "NaN",
                           "null", "NULL", "missing", "Missing", "<NA>", "-1.#IND", "NaT"}) {
    const std::string text = std::string("x,y\n1,1\n") + mark + ",2\n";
    EXPECT_THAT(numbers(parse(text, {.missing = "nan"})), ElementsAre(1, 1, IsNan(), 2)) << mark;
    EXPECT_THAT(problem(text), HasSubstr("is a missing value")) << mark;
  }
  for (const char* other : {"inf", "-inf", "Infinity", "n.a.", "--", "x", "-5-"})
    EXPECT_THAT(problem(std::string("x,y\n1,1\n") + other + ",2\n", {.missing = "nan"}),
                StartsWith("a.csv:3:1: column \"x\": \"" + std::string(other) +
                           "\" is not a finite number"));
  EXPECT_THAT(problem("t,x\n2016-07-01,1\nNone,1\n", {.missing = "nan"}),
              StartsWith("a.csv:3:1: column \"t\": \"None\" is not a time stamp"));
  EXPECT_THAT(numbers(parse("t,x\n2016-07-01,None\n2016-07-02,1\n", {.missing = "nan"})).size(),
              4u);
}

/// "-" and "None" are names in columns of names.
TEST(CsvNumbers, MarksAmongTextsAreTexts) {
  const CsvOptions texts{.texts = {"kind"}, .missing = "nan"};
  EXPECT_THAT(parse("x,kind\n1,-\n2,None\n3,a\n", texts).texts.at(1),
              ElementsAre("-", "None", "a"));
}

/// Thousands after the first rows, which decide what is inferred.
TEST(CsvNumbers, PointsBetweenThousandsAreUnclearWithAnyDelimiter) {
  for (const char delimiter : {';', '\t', '|', ','}) {
    std::string text = std::string("n") + delimiter + "y\n";
    for (int i = 0; i < 300; ++i) {
      const int n = 720 + i;
      const std::string y = n < 1000 ? std::to_string(n) : "1." + std::to_string(n).substr(1);
      text += "20240101" + std::string(1, delimiter) + y + "\n";
    }
    EXPECT_THAT(problem(text),
                StartsWith("a.csv:282:10: column \"y\": \"1.000\" may have a decimal "
                           "point, or one between thousands"));
    EXPECT_EQ(numbers(parse(text, {.decimal = "."})).at(2 * 280 + 1), 1.0);
    EXPECT_NO_THROW(parse(text + "20240101" + delimiter + "0.5\n"));
  }
  EXPECT_THAT(problem("day\tx\n31.01.2024\t1.043\n01.02.2024\t2.157\n"),
              StartsWith("a.csv:2:12: "));
  EXPECT_THAT(problem("x;k\n1;1.043\n2;987\n", {.texts = {"k"}}), StartsWith("a.csv:2:3: "));
  EXPECT_NO_THROW(parse("x;k\n1;1.043\n2;987\n", {.texts = {"k"}, .labels = {"k"}}));
  EXPECT_NO_THROW(parse("x\ty\n1.043\t1\n2.157\t2\n"));
}

}  // namespace csv_numbers_test
}  // namespace bochner
