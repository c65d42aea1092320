#include <gmock/gmock.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/fields/sensor_windows.hpp>
#include <bochner/data/formats/csv.hpp>
#include <cmath>

#include "data/messages.hpp"

namespace bochner {
namespace sensor_table_test {

using testing::ElementsAre;
using testing::HasSubstr;

NamedArray array_of(const std::string& text) {
  return parse_csv(text, "sensors.csv", {.missing = "nan"});
}

const std::string three_rows = "time,x,y,level,rain\n2,5,6,0.5,1\n1,3,4,,2\n2,7,8,0.25,3\n";

TEST(SensorTable, SortsRowsByTime) {
  const SensorTable table = sensor_table(array_of(three_rows), {.places = {"x", "y"}});
  EXPECT_EQ(table.dimensions, 2u);
  EXPECT_EQ(table.variates, 2u);
  EXPECT_THAT(table.times, ElementsAre(1, 2, 2));
  EXPECT_THAT(table.places, ElementsAre(3, 4, 5, 6, 7, 8));
  EXPECT_THAT(table.rows, ElementsAre(1, 0, 2));  // equal times keep their order
  EXPECT_TRUE(std::isnan(table.values[0]));
  EXPECT_EQ(table.values[3], 1);
  EXPECT_THAT(table.names, ElementsAre("time", "x", "y", "level", "rain"));
  EXPECT_THAT(table.part(1, 3).places, ElementsAre(5, 6, 7, 8));
}

TEST(SensorTable, TakesTheColumnsItIsTold) {
  const SensorColumns columns{.time = "4", .places = {"3"}, .values = {"rain", "1"}};
  const SensorTable table = sensor_table(array_of("a,b,y,t,rain\n1,2,3,4,5\n"), columns);
  EXPECT_THAT(table.names, ElementsAre("t", "y", "rain", "a"));
  EXPECT_THAT(table.values, ElementsAre(5, 1));
  const SensorTable dated = sensor_table(array_of("day,x,v\n1970-01-02,1,2\n"), {.places = {"x"}});
  EXPECT_THAT(dated.times, ElementsAre(86400));
}

TEST(SensorTable, RefusesWhatFloatsDoNotHold) {
  const auto read = [](const std::string& value) {
    const std::string text = "time,x,load\n1,1,2\n2,1," + value + "\n";
    return message_or_none<DataError>([&] { sensor_table(array_of(text), {.places = {"x"}}); });
  };
  EXPECT_EQ(read("-1e60"), "row 2: column load: -1e+60 exceeds the range of float32");
  EXPECT_EQ(read("3e38"), "");
}

/// Holds for any order of another table's columns.
TEST(SensorTable, FindsTheColumnsOfAnother) {
  const SensorColumns columns{.time = "1", .places = {"2", "3"}};
  const SensorTable learned = sensor_table(array_of(three_rows), columns);
  EXPECT_THAT(learned.value_names(), ElementsAre("level", "rain"));
  const auto values = [&](const std::string& text) {
    const NamedArray array = array_of(text);
    return sensor_table(array, columns_named_like(array, columns, learned)).values;
  };
  EXPECT_THAT(values("rain,y,time,x,level\n1,6,2,5,7\n"), ElementsAre(7, 1));
  EXPECT_THAT(values("2,5,6,7,1\n"), ElementsAre(7, 1));
  const auto error = [&](const std::string& text) {
    return message_of<DataError>([&] { values(text); });
  };
  EXPECT_EQ(error("time,x,y,level,snow\n2,5,6,7,1\n"),
            "the input has no column \"rain\"; the model was trained on \"level\", \"rain\"");
  EXPECT_EQ(error("time,x,z,level,rain\n2,5,6,7,1\n"),
            "the input has no column \"y\"; the model was trained on \"x\", \"y\"");
  EXPECT_EQ(error("time,x,y,level,rain,snow\n2,5,6,7,1,3\n"),
            "the model does not know the column \"snow\"; it was trained on \"level\", \"rain\"");
  EXPECT_TRUE(
      sensor_table(array_of("1,2,3,4\n"), {.time = "1", .places = {"2"}}).value_names().empty());
}

TEST(SensorTable, JoinsFiles) {
  const SensorTable one = sensor_table(array_of(three_rows), {.places = {"x", "y"}});
  const SensorTable both = merged({one, one});
  EXPECT_THAT(both.times, ElementsAre(1, 1, 2, 2, 2, 2));
  EXPECT_NE(fingerprint(both), fingerprint(one));
  EXPECT_EQ(fingerprint(merged({one})), fingerprint(one));
  const SensorTable flat = sensor_table(array_of(three_rows), {.places = {"x"}});
  EXPECT_THAT(message_of<DataError>([&] {
                merged({one, flat});
              }),
              HasSubstr("one table has 2 coordinates and 2 columns of values, another 1 and 3"));
}

/// Columns are found by name, and dates are not values.
TEST(SensorTable, JoinsColumnsOfOneName) {
  const auto table = [](const std::string& header) {
    return sensor_table(array_of(header + "\n1,2,3,4\n"), {.places = {"x"}});
  };
  EXPECT_EQ(merged({table("time,x,level,rain"), table("time,x,level,rain")}).size(), 2u);
  EXPECT_EQ(
      message_of<DataError>([&] {
        merged({table("time,x,level,rain"), table("time,x,rain,level")});
      }),
      "data.files: one table has the columns \"x\", \"level\", \"rain\", another \"x\", \"rain\", "
      "\"level\"; name the same ones in data.columns");
  const SensorTable dated =
      sensor_table(array_of("day,x,v,seen\n1970-01-02,1,2,1970-01-03\n"), {.places = {"x"}});
  EXPECT_THAT(dated.names, ElementsAre("day", "x", "v"));
}

TEST(SensorTable, SaysWhatIsWrong) {
  const auto error = [](const std::string& text, const SensorColumns& columns) {
    return message_of<DataError>([&] { sensor_table(array_of(text), columns); });
  };
  EXPECT_THAT(error(three_rows, {.places = {"z"}}), HasSubstr("no column \"z\""));
  EXPECT_THAT(error(three_rows, {.places = {}}), HasSubstr("one to three coordinates, not 0"));
  EXPECT_THAT(error("time,x\n1,2\n", {.places = {"x"}}), HasSubstr("no column of values"));
  EXPECT_THAT(error("time,x,v\n1,2,3\n2,,3\n", {.places = {"x"}}),
              HasSubstr("row 2: column x: no time or coordinate may be missing"));
}

TEST(SensorTable, IsAnotherOneByEachOfItsNumbers) {
  const auto of = [](const char* row) {
    return fingerprint(
        sensor_table(array_of(std::string("time,x,v\n1,2,3\n") + row), {.places = {"x"}}));
  };
  for (const char* row : {"2,5,6", "1,6,6", "1,5,7"}) EXPECT_NE(of(row), of("1,5,6")) << row;
}

}  // namespace sensor_table_test
}  // namespace bochner
