#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/series/series_table.hpp>
#include <limits>

#include "data/messages.hpp"

namespace bochner {
namespace time_series_test {

NamedArray table() {
  return {xt::xarray<double>{{0, 5, 1}, {10, 6, 2}, {20, 7, 4}, {50, 8, 8}}, {"time", "a", "b"}, 0};
}

TEST(TimeSeries, TakesColumnsApart) {
  const TimeSeries series = time_series(table());
  EXPECT_EQ(series.names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(series.values, (xt::xarray<double>{{5, 6, 7, 8}, {1, 2, 4, 8}}));
  EXPECT_EQ(series.times, (std::vector<double>{0, 10, 20, 50}));
  EXPECT_EQ(series.time_step().words(), "10 s");
}

TEST(TimeSeries, ColumnsComeInTheOrderAskedFor) {
  const TimeSeries series = time_series(table(), {"b", "a"});
  EXPECT_EQ(series.values, (xt::xarray<double>{{1, 2, 4, 8}, {5, 6, 7, 8}}));
}

TEST(TimeSeries, WithoutNamesEveryColumnIsAVariate) {
  const TimeSeries series = time_series({xt::xarray<double>{{1, 2}, {3, 4}}, {}});
  EXPECT_EQ(series.variates(), 2u);
  EXPECT_EQ(series.rows(), 2u);
  EXPECT_TRUE(series.names.empty());
  EXPECT_TRUE(series.times.empty());
  EXPECT_EQ(series.time_step().after(5, 2), 7);
}

TEST(TimeSeries, SaysWhatIsWrong) {
  EXPECT_EQ(message_of<DataError>([] { time_series(table(), {"c"}); }),
            "no column \"c\"; there are: \"time\", \"a\", \"b\"");
  NamedArray broken = table();
  broken.values(2, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(message_of<DataError>([&] { time_series(broken); }),
            "row 3, column a: a series needs finite numbers; fill in what is missing or choose "
            "other columns");
  broken = table();
  broken.values(3, 0) = 20;
  EXPECT_EQ(
      message_of<DataError>([&] { time_series(broken); }),
      "row 4, column time: 1970-01-01 00:00:20 is repeated; remove a row, or name the column of "
      "series ids as data.series");
  EXPECT_EQ(message_of<DataError>([] {
              time_series({xt::xarray<double>{1, 2}, {}});
            }),
            "a series is a table of rows and columns, not an array of 1 axes");
  EXPECT_EQ(message_of<DataError>([] {
              time_series({xt::zeros<double>({2, 1}), {"time"}, 0});
            }),
            "there is no column of numbers next to the time");
}

TEST(TimeSeries, NumericTimesStayNumbers) {
  NamedArray numbers = table();
  numbers.numeric_time = true;
  const TimeSeries series = time_series(numbers);
  EXPECT_EQ(series.time_step().words(), "10");
  EXPECT_EQ(series.time_step().season(), 1u);
  EXPECT_EQ(series.time_step().after(50, 2), 70);
  EXPECT_FALSE(series.time_step().is_regular());
  EXPECT_TRUE(series.time_step().is_valid());
  EXPECT_EQ(series.time_text(20), "20");
  EXPECT_EQ(time_series(table()).time_text(20), "1970-01-01 00:00:20");
  numbers.values(3, 0) = 20;
  EXPECT_THAT(message_of<DataError>([&] { time_series(numbers); }),
              testing::HasSubstr("column time: 20 is repeated"));
}

TEST(TimeSeries, OtherNumbersTimesOrNamesAreOtherData) {
  const std::uint64_t first = fingerprint(time_series(table()));
  EXPECT_EQ(fingerprint(time_series(table(), {"a", "b"})), first);
  EXPECT_NE(fingerprint(time_series(table(), {"b", "a"})), first);
  NamedArray changed = table();
  changed.values(3, 2) = 9;
  EXPECT_NE(fingerprint(time_series(changed)), first);
  changed = table();
  changed.values(3, 0) = 51;
  EXPECT_NE(fingerprint(time_series(changed)), first);
}

}  // namespace time_series_test
}  // namespace bochner
