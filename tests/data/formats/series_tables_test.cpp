#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/formats/series_tables.hpp>
#include <cmath>

namespace bochner {
namespace series_tables_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

const RealSeriesSet pair{.channels = 2,
                         .series = {{{1, 2, 3, 4}, "up", {}, "a"}, {{5, 6}, "down", {}, "b"}}};

TEST(SeriesTables, OfNamedSeriesKeepTheirNames) {
  const NamedArray table = table_of_series(pair, {"id", "class", {"left", "right"}});
  EXPECT_THAT(table.columns, ElementsAre("id", "class", "left", "right"));
  const RealSeriesSet again = series_of_table(table, {.series = "id", .label = "class"}, true);
  ASSERT_EQ(again.series.size(), 2u);
  EXPECT_EQ(again.series[0].name, "a");
  EXPECT_THAT(again.series[1].values, ElementsAre(5, 6));
  EXPECT_THAT(table_of_series(again).columns, ElementsAre("series", "label", "left", "right"));
  NamedArray answer{xt::zeros<double>({2, 3}), {"series", "up", "down"}};
  name_series(answer, again);
  EXPECT_THAT(answer.texts.at(0), ElementsAre("a", "b"));
}

TEST(SeriesTables, HaveTimesThatAscend) {
  NamedArray table{xt::xarray<double>{{1, 0, 5}, {1, 2, 6}, {2, 0, 7}}, {"series", "at", "x"}};
  const RealSeriesColumns columns{.time = "at"};
  const RealSeriesSet set = series_of_table(table, columns, false);
  EXPECT_EQ(set.channels, 1u);
  EXPECT_THAT(set.series[0].times, ElementsAre(0, 2));
  table.values(1, 1) = 0;
  EXPECT_THAT([&] { series_of_table(table, columns, false); },
              ThrowsMessage<DataError>(HasSubstr("row 2: its time is not after")));
}

TEST(SeriesTables, HaveRowsThatAreSeriesToTheLastValue) {
  const double gap = std::nan("");
  NamedArray table{
      xt::xarray<double>{{0, 1, gap, 3}, {1, 4, gap, gap}}, {}, {}, {{0, {"1.0", "2"}}}};
  const RealSeriesSet set = series_of_rows(table, {.label = "1"}, true);
  EXPECT_EQ(set.channels, 1u);
  EXPECT_THAT(set.series[0].values, ElementsAre(1, testing::IsNan(), 3));
  EXPECT_THAT(set.series[1].values, ElementsAre(4));
  EXPECT_EQ(set.series[0].label, "1");
  EXPECT_THAT([&] { series_of_rows(table, {}, true); },
              ThrowsMessage<DataError>(HasSubstr("label")));
  table.values(1, 1) = gap;
  EXPECT_THAT([&] { series_of_rows(table, {.label = "1"}, true); },
              ThrowsMessage<DataError>(HasSubstr("row 2: has no values")));
}

TEST(SeriesTables, OfArraysEndWithTheLastValueOfAnyChannel) {
  const double gap = std::nan("");
  const xt::xarray<double> x{{{1, 2}, {3, gap}, {gap, gap}}, {{4, 5}, {6, 7}, {8, 9}}}, y{0, 1};
  const RealSeriesSet set = series_of_arrays(x, &y);
  EXPECT_EQ(set.channels, 2u);
  EXPECT_FALSE(set.numbers);
  EXPECT_THAT(set.series[0].values, ElementsAre(1, 3, 2, testing::IsNan()));
  EXPECT_THAT(set.series[1].values, ElementsAre(4, 6, 8, 5, 7, 9));
  EXPECT_EQ(set.series[1].label, "1");
  EXPECT_TRUE(series_of_arrays(x, std::make_unique<xt::xarray<double>>(y + 0.5).get()).numbers);
  const xt::xarray<double> three{1, 2, 3};
  EXPECT_THAT([&] { series_of_arrays(x, &three); },
              ThrowsMessage<DataError>(HasSubstr("y has 3 labels for the 2 series of x")));
  EXPECT_THAT([&] { series_of_arrays(y, nullptr); },
              ThrowsMessage<DataError>(HasSubstr("give (series, rows)")));
}

}  // namespace series_tables_test
}  // namespace bochner
