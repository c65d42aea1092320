#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/series/series_windows.hpp>
#include <cmath>
#include <map>
#include <set>

#include "data/batches.hpp"
#include "data/messages.hpp"

namespace bochner {
namespace series_windows_test {

/// Returns a series with 1000 v + row in variate v: a number identifies its origin.
TimeSeries counting(std::size_t variates, std::size_t rows) {
  TimeSeries series;
  series.values.resize({variates, rows});
  for (std::size_t v = 0; v < variates; ++v)
    for (std::size_t row = 0; row < rows; ++row) series.values(v, row) = double(1000 * v + row);
  return series;
}

SeriesSpec tiny() {
  SeriesSpec spec;
  spec.lookback = 4, spec.horizon = 2;
  spec.splits = {20, 10, 8};
  return spec;
}

TEST(SeriesWindows, EveryWindowWhoseFutureLiesInTheSplit) {
  const SeriesWindows windows(counting(2, 40), tiny());
  EXPECT_EQ(windows.examples(Split::train), 20u - 4 - 2 + 1);
  EXPECT_EQ(windows.examples(Split::validation), 10u - 2 + 1);
  EXPECT_EQ(windows.examples(Split::test), 8u - 2 + 1);
  EXPECT_EQ(windows.rows(Split::test), 8u);
}

/// The published protocol of ETTh1: 2881 - H test windows at any lookback.
TEST(SeriesWindows, CountsTheTestWindowsOfThePublishedProtocol) {
  SeriesSpec spec;
  spec.splits = {8640, 2880, 2880};
  for (const std::size_t horizon : {96, 192, 336, 720}) {
    for (const std::size_t lookback : {96, 512}) {
      spec.lookback = lookback, spec.horizon = horizon;
      const SeriesWindows windows(counting(1, 17420), spec);
      EXPECT_EQ(windows.examples(Split::test), 2881 - horizon);
      EXPECT_EQ(windows.examples(Split::validation), 2881 - horizon);
      EXPECT_EQ(windows.examples(Split::train), 8641 - lookback - horizon);
    }
  }
}

TEST(SeriesWindows, ThePastReachesBackIntoTheSplitBefore) {
  const SeriesWindows windows(counting(2, 40), tiny());
  const SeriesBatch first = batch_in_order(windows, Split::test, 0, 1);
  EXPECT_EQ(first.past, (Tensor{{{26, 27, 28, 29}, {1026, 1027, 1028, 1029}}}));
  EXPECT_EQ(first.future, (Tensor{{{30, 31}, {1030, 1031}}}));
  const SeriesBatch last = batch_in_order(windows, Split::test, 6, 1);
  EXPECT_EQ(last.future, (Tensor{{{36, 37}, {1036, 1037}}}));
  const SeriesBatch training = batch_in_order(windows, Split::train, 14, 1);
  EXPECT_EQ(training.past(0, 0, 0), 14);
  EXPECT_EQ(training.future(0, 0, 1), 19);
}

/// Returns days 0, 1, ... with some left out before some rows.
TimeSeries with_gaps(std::size_t rows, const std::map<std::size_t, double>& missing) {
  TimeSeries series = counting(1, rows);
  double day = 0;
  for (std::size_t row = 0; row < rows; ++row, ++day) {
    if (missing.contains(row)) day += missing.at(row);
    series.times.push_back(86400 * day);
  }
  return series;
}

TEST(SeriesWindows, NoWindowGoesAcrossAGap) {
  SeriesSpec spec = tiny();
  const TimeSeries series = with_gaps(40, {{10, 1}, {33, 3}});
  const SeriesWindows windows(series, spec);
  EXPECT_EQ(windows.examples(Split::train), (10u - 5) + (10u - 5));
  EXPECT_EQ(windows.first_predicted(Split::train, 4), 8u);
  EXPECT_EQ(windows.first_predicted(Split::train, 5), 14u);
  EXPECT_EQ(windows.examples(Split::test), 2u + 0u) << "futures at rows 30 and 31; from 37 to 38";
  EXPECT_NE(windows.words().find("1 variate, 40 rows each 1 day, 2 gaps that no window crosses "
                                 "(the longest 1970-02-03 00:00:00 to 1970-02-07 00:00:00)"),
            std::string::npos)
      << windows.words();
  spec.pause = 2;
  EXPECT_EQ(SeriesWindows(series, spec).examples(Split::train), 20u - 5);
  spec.pause = 0;
  EXPECT_EQ(SeriesWindows(series, spec).words(), SeriesWindows(counting(1, 40), spec).words());
  spec.pause = 1, spec.stamps = true;
  EXPECT_EQ(SeriesWindows(series, spec).examples(Split::train), 20u - 5) << "the model sees them";
}

TEST(SeriesWindows, SaysThatGapsLeaveTooLittle) {
  std::map<std::size_t, double> missing;
  for (std::size_t row = 5; row < 50; row += 5) missing[row] = 1;
  SeriesSpec spec = tiny();
  spec.splits = {20, 0, 0};
  const TimeSeries series = with_gaps(100, missing);
  EXPECT_EQ(message_of<DataError>([&] { SeriesWindows(series, spec); }),
            "the training split has 20 rows, too few for data.lookback = 4 and data.horizon = 2 "
            "between its gaps (data.pause); shorten them or change data.splits");
}

TEST(SeriesWindows, StrideLeavesWindowsOut) {
  SeriesSpec spec = tiny();
  spec.stride = 3;
  const SeriesWindows windows(counting(1, 40), spec);
  EXPECT_EQ(windows.examples(Split::train), 5u);
  EXPECT_EQ(windows.examples(Split::validation), 3u);
  EXPECT_EQ(batch_in_order(windows, Split::validation, 2, 1).future, (Tensor{{{26, 27}}}));
}

TEST(SeriesWindows, FractionsAreOfAllRows) {
  SeriesSpec spec = tiny();
  spec.splits = {0.5, 0.25, 0.25};
  const SeriesWindows windows(counting(1, 40), spec);
  EXPECT_EQ(windows.rows(Split::train), 20u);
  EXPECT_EQ(windows.rows(Split::validation), 10u);
  EXPECT_EQ(windows.rows(Split::test), 10u);
}

TEST(SeriesWindows, EveryEpochVisitsEveryWindowInAnotherOrder) {
  const SeriesWindows windows(counting(1, 40), tiny());
  std::vector<std::vector<real>> orders;
  for (const std::uint64_t epoch : {0, 1}) {
    orders.emplace_back();
    const SeriesBatch batch = training_batch(windows, 15 * epoch, 15);
    for (std::size_t i = 0; i < 15; ++i) orders.back().push_back(batch.past(i, 0, 0));
    EXPECT_EQ(std::set<real>(orders.back().begin(), orders.back().end()).size(), 15u);
  }
  EXPECT_NE(orders[0], orders[1]);
  EXPECT_EQ(training_batch(windows, 17, 1).past(0, 0, 0), orders[1][2]);
}

TEST(SeriesWindows, StatisticsKnowTheTrainingRowsOnly) {
  TimeSeries series = counting(2, 40);
  const SeriesMoments before = SeriesWindows(series, tiny()).moments();
  EXPECT_DOUBLE_EQ(before.mean[1], 1009.5);
  EXPECT_DOUBLE_EQ(before.deviation[0], std::sqrt((20.0 * 20 - 1) / 12));
  for (std::size_t row = 20; row < 40; ++row) series.values(0, row) = 1e6;
  const SeriesMoments after = SeriesWindows(series, tiny()).moments();
  EXPECT_EQ(after.mean, before.mean);
  EXPECT_EQ(after.deviation, before.deviation);
  series.values(0, 19) = 1e6;
  EXPECT_NE(SeriesWindows(series, tiny()).moments().mean, before.mean);
}

TEST(SeriesWindows, ASplitWithoutRowsHasNoWindows) {
  SeriesSpec spec = tiny();
  spec.splits = {20, 0, 0};
  const SeriesWindows windows(counting(1, 40), spec);
  EXPECT_EQ(windows.examples(Split::validation), 0u);
  EXPECT_EQ(windows.examples(Split::test), 0u);
}

TEST(SeriesWindows, SaysWhatDoesNotFit) {
  SeriesSpec spec = tiny();
  spec.splits = {20, 10, 11};
  EXPECT_EQ(message_of<std::exception>([&] { SeriesWindows(counting(1, 40), spec); }),
            "data.splits need 41 rows, there are 40");
  spec.splits = {20, 1, 8};
  EXPECT_EQ(message_of<std::exception>([&] { SeriesWindows(counting(1, 40), spec); }),
            "the validation split has 1 rows, too few for data.lookback = 4 and data.horizon = 2; "
            "shorten them or change data.splits");
  spec.splits = {5, 10, 8};
  EXPECT_EQ(message_of<std::exception>([&] { SeriesWindows(counting(1, 40), spec); }),
            "the training split has 5 rows, too few for data.lookback = 4 and data.horizon = 2; "
            "shorten them or change data.splits");
  const SeriesWindows windows(counting(1, 40), tiny());
  EXPECT_EQ(message_of<std::exception>([&] { batch_in_order(windows, Split::test, 6, 2); }),
            "[dataset] examples 6 to 8 of 7 in the test split do not exist");
}

/// Returns a stamp for each row, 10 apart.
TimeSeries stamped(std::size_t rows) {
  TimeSeries series = counting(1, rows);
  for (std::size_t row = 0; row < rows; ++row) series.times.push_back(10.0 * double(row));
  return series;
}

TEST(SeriesWindows, TellTheTimesOfTheirRows) {
  SeriesSpec spec = tiny();
  EXPECT_EQ(batch_in_order(SeriesWindows(stamped(40), spec), Split::test, 0, 1).times,
            (Times{{0, 1, 2, 3, 4, 5}}));
  spec.stamps = true;
  EXPECT_EQ(batch_in_order(SeriesWindows(stamped(40), spec), Split::test, 0, 1).times,
            (Times{{260, 270, 280, 290, 300, 310}}));
  EXPECT_EQ(message_of<DataError>([&] { SeriesWindows(counting(1, 40), spec); }),
            "data.stamps needs a column of times; name it as data.time_column");
}

/// Remaining rows keep their time, values and split, and depend on the seed alone.
TEST(SeriesWindows, DropsRowsAtRandom) {
  SeriesSpec spec;
  spec.lookback = 4, spec.horizon = 2, spec.splits = {2000, 1000, 900};
  spec.stamps = true, spec.drop = 0.5;
  const SeriesWindows windows(stamped(4000), spec);
  EXPECT_NEAR(double(windows.series().rows()), 2000, 5 * std::sqrt(4000 * 0.25));
  for (std::size_t i = 0; i < windows.series().rows(); ++i)
    EXPECT_EQ(windows.series().times[i], 10 * windows.series().values(0, i));
  const Times first = batch_in_order(windows, Split::test, 0, 1).times;
  EXPECT_GE(first(0, 4), 30000);
  EXPECT_LT(first(0, 3), 30000);
  const auto last = windows.examples(Split::test) - 1;
  EXPECT_LT(batch_in_order(windows, Split::test, last, 1).times(0, 5), 39000);
  EXPECT_EQ(SeriesWindows(stamped(4000), spec).fingerprint(), windows.fingerprint());
  spec.seed = 2;
  EXPECT_NE(SeriesWindows(stamped(4000), spec).fingerprint(), windows.fingerprint());
}

TEST(SeriesWindows, AColumnThatDoesNotChangeDeviatesByNothing) {
  TimeSeries series = counting(1, 40);
  series.values.fill(19.99);
  const SeriesMoments moments = SeriesWindows(series, tiny()).moments();
  EXPECT_EQ(moments.mean[0], 19.99);
  EXPECT_EQ(moments.deviation[0], 0);
}

/// Series of equal length do not lose the same rows.
TEST(SeriesWindows, DropsOtherRowsOfEachSeries) {
  SeriesSpec spec;
  spec.lookback = 4, spec.horizon = 2, spec.stamps = true, spec.drop = 0.5;
  std::vector<TimeSeries> two = {stamped(400), stamped(400)};
  two[0].id = {"a"}, two[1].id = {"b"};
  const SeriesWindows windows(two, spec);
  EXPECT_NE(windows.series(0).times, windows.series(1).times);
}

TEST(SeriesWindows, SayWhichStepsAreLost) {
  const auto meter = [](double from) {
    TimeSeries series = counting(1, 40);
    series.values += from;
    return series;
  };
  EXPECT_EQ(SeriesWindows(meter(0), tiny()).words().find("row to row"), std::string::npos);
  const double few = 0.2 / double(std::numeric_limits<real>::epsilon());
  EXPECT_NE(SeriesWindows(meter(few), tiny()).words().find("variate 1 changes by some 1 from row"),
            std::string::npos);
  EXPECT_THROW(SeriesWindows(meter(20 * few), tiny()), DataError);
}

}  // namespace series_windows_test
}  // namespace bochner
