#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/formats/series_tables.hpp>
#include <cmath>

namespace bochner {
namespace series_files_test {

using testing::ElementsAre;

constexpr const char* ts_header = "# Of two sensors\n@problemName pair\n@classLabel true up down\n";

RealSeriesSet read(const std::string& text) { return parse_series(text, "pair.ts"); }

TEST(SeriesFiles, ReadChannelsOfDifferentLengthsBetweenSeries) {
  const RealSeriesSet set =
      read(std::string(ts_header) + "@data\n1,2,3:4,5,6:up\n-1,2e1:?,NaN:down\n");
  ASSERT_EQ(set.series.size(), 2u);
  EXPECT_EQ(set.channels, 2u);
  EXPECT_FALSE(set.numbers);
  EXPECT_THAT(set.series[0].values, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(set.series[0].label, "up");
  EXPECT_EQ(set.rows(1), 2u);
  EXPECT_THAT(set.series[1].values, ElementsAre(-1, 20, testing::IsNan(), testing::IsNan()));
}

TEST(SeriesFiles, ReadNumbersToPredict) {
  const RealSeriesSet set = read("@problemName price\n@targetlabel true\n@data\n0.5,0.25:4339.9\n");
  EXPECT_TRUE(set.numbers);
  const NamedArray table = table_of_series(set);
  EXPECT_THAT(table.columns, ElementsAre("series", "label", "x"));
  EXPECT_EQ(table.values(1, 1), 4339.9);
}

TEST(SeriesFiles, ReadArff) {
  const RealSeriesSet one = parse_series(
      "% of UCR\n@relation one\n@attribute att0 numeric\n@attribute att1 numeric\n@attribute "
      "target {a,b}\n@data\n1,?,b\n",
      "one.arff");
  EXPECT_EQ(one.channels, 1u);
  EXPECT_THAT(one.series[0].values, ElementsAre(1, testing::IsNan()));
  EXPECT_EQ(one.series[0].label, "b");
  const RealSeriesSet two = parse_series(
      "@relation two\n@attribute a relational\n@data\n'1,2,3\\n4,5,6',a\n", "two.arff");
  EXPECT_EQ(two.channels, 2u);
  EXPECT_THAT(two.series[0].values, ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(SeriesFiles, BecomeTablesAndSeriesAgain) {
  const RealSeriesSet set = read(std::string(ts_header) + "@data\n1,2:3,4:up\n5:6:down\n");
  const NamedArray table = table_of_series(set);
  EXPECT_THAT(table.columns, ElementsAre("series", "label", "x1", "x2"));
  const RealSeriesSet again = series_of_table(table, {}, true);
  ASSERT_EQ(again.series.size(), 2u);
  EXPECT_THAT(again.series[0].values, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(again.series[1].values, ElementsAre(5, 6));
  EXPECT_EQ(again.series[1].label, "down");
}

TEST(SeriesFiles, OfTablesNeedOneLabelForEachSeries) {
  NamedArray table =
      table_of_series(read(std::string(ts_header) + "@data\n1,2:3,4:up\n5:6:down\n"));
  table.values(1, 1) = 1;
  EXPECT_THROW(series_of_table(table, {}, true), DataError);
  table.columns[1] = "class";
  EXPECT_THROW(series_of_table(table, {}, true), DataError);
  const RealSeriesSet unlabelled = series_of_table(table, {.channels = {"x1", "x2"}}, false);
  EXPECT_EQ(unlabelled.series[0].label, "");
}

struct Refused {
  const char *rows, *why;
};

TEST(SeriesFiles, RefuseWithTheLine) {
  for (const auto& [rows, why] :
       {Refused{"1,2:3:up\n", "line 5: has channels of different lengths"},
        {":3:up\n", "line 5: has channels of different lengths"},
        {"1:2:up\n1:up\n", "line 6: has 1 channels, the lines above 2"},
        {"1,x:3,4:up\n", "line 5: \"x\" is not a number; missing values are ? or NaN"},
        {"1e99:1:up\n", "line 5: \"1e99\" is too large"},
        {"up\n", "line 5: has a label and no series"},
        {"", "has no series"}})
    EXPECT_THAT([&] { read(std::string(ts_header) + "@data\n" + rows); },
                testing::ThrowsMessage<DataError>(testing::HasSubstr(why)));
}

constexpr const char* stamped_header =
    "@problemName pair\n@timeStamps true\n@classLabel true up down\n@data\n";

TEST(SeriesFiles, ReadTimesOfAllChannels) {
  const RealSeriesSet set = read(
      stamped_header +
      std::string("(0,1),(1,?),(2.5,3):(0,4),(1,5),(2,6):up\n(2024-01-01 10:00:00,7),(2024-01-01 "
                  "12:00:00,8):(2024-01-01 10:00:00,9):down\n"));
  ASSERT_EQ(set.series.size(), 2u);
  EXPECT_THAT(set.series[0].times, ElementsAre(0, 1, 2, 2.5));
  EXPECT_THAT(set.series[0].values,
              ElementsAre(1, testing::IsNan(), testing::IsNan(), 3, 4, 5, 6, testing::IsNan()));
  EXPECT_TRUE(has_irregular_times(set.series[0]));
  EXPECT_EQ(set.series[1].times[1] - set.series[1].times[0], 7200);
  EXPECT_FALSE(has_irregular_times(set.series[1]));
  EXPECT_EQ(set.series[1].label, "down");
}

TEST(SeriesFiles, RefuseTimesWithTheLine) {
  for (const auto& [rows, why] :
       {Refused{"(0,1),(0,2):up\n", "line 5: has times that do not ascend"},
        {"(0;1):up\n", "line 5: \"(0;1\" is not a pair of a time and a value"},
        {"(noon,1):up\n", "line 5: \"noon\" is neither a number nor a date"}})
    EXPECT_THAT([&] { read(stamped_header + std::string(rows)); },
                testing::ThrowsMessage<DataError>(testing::HasSubstr(why)));
  std::string sparse;
  for (int channel = 0; channel < 100; ++channel) sparse += "(" + std::to_string(channel) + ",1):";
  EXPECT_THAT([&] { read(stamped_header + sparse + "up\n"); },
              testing::ThrowsMessage<DataError>(testing::HasSubstr("share few of them")));
}

TEST(SeriesFiles, AreKnownByTheirHeaders) {
  EXPECT_EQ(series_format("\n# a\n@problemname x"), "ts");
  EXPECT_EQ(series_format("% a\r\n@RELATION x\n@attribute y relational\n"), "arff");
  EXPECT_EQ(series_format("@relation x\n@attribute t9 real\n@attribute t10 real\n"), "arff");
  EXPECT_EQ(series_format("@relation iris\n@attribute length real\n@attribute width real\n"), "");
  EXPECT_EQ(series_format("a,b\n@relation,1\n"), "");
  EXPECT_EQ(series_format(""), "");
}

}  // namespace series_files_test
}  // namespace bochner
