#include <gmock/gmock.h>

#include <bochner/data/formats/csv_layout.hpp>

#include "data/formats/csv_check.hpp"

namespace bochner {
namespace csv_layout_test {

using namespace csv_check;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string widths = "id,V2,V3,V4,V5,V6,V7,V8,V9\n";
const std::string wide = widths + "a,1,2,3,4,5,6,7,8\nb,,9,8,7,6.5,5,,\n";

CsvOptions wide_options() {
  CsvOptions options;
  options.layout = "wide";
  options.texts = {"id"};
  return options;
}

bool is_wide(const std::string& text) { return is_wide_csv(text, "a.csv", {}); }

TEST(WideCsv, HasARowForEachValue) {
  const NamedArray array = parse(wide, wide_options());
  EXPECT_THAT(array.columns, ElementsAre("id", "value"));
  ASSERT_EQ(array.values.shape()[0], 13u) << "without empty cells at both ends";
  EXPECT_THAT(array.texts.at(0), ElementsAre("a", "b"));
  EXPECT_EQ(array.values(7, 1), 8);
  EXPECT_EQ(array.values(8, 0), 1);
  EXPECT_EQ(array.values(8, 1), 9);
  EXPECT_EQ(array.values(11, 1), 6.5);
}

TEST(WideCsv, DatesThatNameColumnsAreTimes) {
  std::string names = "shop", cells = "north \"1\"";
  for (int month = 1; month <= 9; ++month) {
    names += ";2024-0" + std::to_string(month) + "-01";
    cells += ";" + std::to_string(month) + ",5";
  }
  CsvOptions options = wide_options();
  options.texts = {"shop"};
  options.quote = "none";
  const NamedArray array = parse(names + "\n" + cells + "\nsouth" + cells.substr(9), options);
  EXPECT_THAT(array.columns, ElementsAre("shop", "time", "value"));
  ASSERT_TRUE(array.time);
  EXPECT_EQ(*array.time, 1u);
  EXPECT_THAT(array.texts.at(0), ElementsAre("north \"1\"", "south"));
  EXPECT_EQ(array.values(2, 2), 3.5);
  EXPECT_EQ(array.values(1, 1) - array.values(0, 1), 31 * 86400);
  EXPECT_TRUE(is_wide(names + "\n" + cells.substr(0, 5) + cells.substr(9) +
                      "\n"
                      "south" +
                      cells.substr(9)));
}

TEST(WideCsv, IsRecognizedByRowsOfDifferentLength) {
  EXPECT_TRUE(is_wide(wide));
  EXPECT_FALSE(is_wide(widths + "a,1,2,3,4,5,6,7,8\nb,1,2,3,4,5,6,7,8\n")) << "equal lengths";
  EXPECT_FALSE(is_wide(widths + "a,1,2,3,4,5,6,7,8\na,1,2,3,4,5,6,7,\n")) << "an id twice";
  EXPECT_FALSE(is_wide(widths + "1,1,2,3,4,5,6,7,8\n2,1,2,3,4,5,6,7,\n")) << "numbers as ids";
  EXPECT_FALSE(is_wide(widths + "a,1,2,,4,5,6,7,8\nb,1,2,3,4,5,6,7,\n")) << "a gap";
  EXPECT_FALSE(is_wide("id,x,y\na,1,2\nb,1,\n")) << "few values";
}

TEST(WideCsv, NamesWhatItCannotRead) {
  EXPECT_THAT(problem(wide + "c,1\n", wide_options()), HasSubstr("a.csv:4:1: has 2 fields"));
  EXPECT_THAT(problem(widths + "a,,,,,,,,\n", wide_options()), HasSubstr("no values"));
  CsvOptions options;
  options.layout = "tall";
  EXPECT_THROW(parse(wide, options), std::invalid_argument);
}

}  // namespace csv_layout_test
}  // namespace bochner
