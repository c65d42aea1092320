#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/formats/csv.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <bochner/data/series/series_table.hpp>
#include <bochner/data/series/series_windows.hpp>
#include <cmath>

#include "data/batches.hpp"
#include "data/messages.hpp"

namespace bochner {
namespace series_table_test {

const char* const shops =
    "shop,item,day,sales,price,area\n"
    "north,1,2024-01-01,5,2,70\n"
    "south,1,2024-01-01,50,3,90\n"
    "north,1,2024-01-02,6,2.5,70\n"
    "north,1,2024-01-03,7,2,70\n"
    "south,1,2024-01-02,60,3,90\n";

NamedArray table_of(const std::string& text) {
  CsvOptions options;
  options.texts = {"shop", "item"};
  options.labels = options.texts;
  options.missing = "nan";
  return parse_csv(text, "shops", options);
}

SeriesColumns shop_columns() {
  return {.targets = {"sales"}, .series = {"shop", "item"}, .known = {"price"}, .fixed = {"area"}};
}

TEST(SeriesTable, TellsSeriesApart) {
  const NamedArray table = table_of(shops);
  const auto parts = rows_of_series(table, {"shop", "item"});
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(words_of(parts[0].id), "north, 1");
  EXPECT_EQ(parts[0].rows, (std::vector<std::size_t>{0, 2, 3}));
  EXPECT_EQ(parts[1].rows, (std::vector<std::size_t>{1, 4}));
  const TimeSeries south = time_series(table, shop_columns(), parts[1]);
  EXPECT_EQ(south.names, std::vector<std::string>{"sales"});
  EXPECT_EQ(south.values, (xt::xarray<double>{{50, 60}}));
  EXPECT_EQ(south.covariates, (xt::xarray<double>{{3, 3}, {90, 90}}));
}

TEST(SeriesTable, ColumnsThatAreNothingElseAreForecast) {
  SeriesColumns columns = shop_columns();
  columns.targets = {}, columns.fixed = {};
  const NamedArray table = table_of(shops);
  EXPECT_EQ(time_series(table, columns, rows_of_series(table, columns.series)[0]).names,
            (std::vector<std::string>{"sales", "area"}));
}

TEST(SeriesTable, DatesAreForecastOnlyWhereTheyAreNamed) {
  const NamedArray table = table_of("date,load,updated\n2024-01-01,1,2024-01-05\n");
  const SeriesRows all = rows_of_series(table, {})[0];
  EXPECT_EQ(time_series(table, {}, all).names, std::vector<std::string>{"load"});
  EXPECT_EQ(time_series(table, {.targets = {"updated"}}, all).values(0, 0), 1704412800);
}

TEST(SeriesTable, TextsOfNumbersStayAsTheyAreWritten) {
  const NamedArray table = table_of("shop,item,day,sales\n007,a,2024-01-01,1\n");
  EXPECT_EQ(words_of(rows_of_series(table, {"shop"})[0].id), "007");
}

TEST(SeriesTable, CalendarsAreASineAndACosine) {
  const NamedArray table = table_of(shops);
  SeriesColumns columns{.targets = {"sales"}, .series = {"shop"}, .calendar = {"weekday", "hour"}};
  const SeriesRows north = rows_of_series(table, columns.series)[0];
  const TimeSeries series = time_series(table, columns, north);
  ASSERT_EQ(series.channels(), 4u);
  EXPECT_NEAR(series.covariates(0, 1), std::sin(2 * 3.14159265358979 / 7), 1e-12) << "a Tuesday";
  EXPECT_EQ(series.covariates(2, 1), 0) << "midnight";
  EXPECT_EQ(series.covariates(3, 1), 1);
  EXPECT_EQ(message_of<DataError>([&] {
              NamedArray timeless = table;
              timeless.time.reset();
              time_series(timeless, {.targets = {"sales"}, .calendar = {"hour"}}, north);
            }),
            "data.calendar needs a column of time stamps; name it as data.time_column");
}

TEST(SeriesTable, RowsWithoutTargetsAreAskedFor) {
  const NamedArray table = table_of(std::string(shops) + "south,1,2024-01-03,,4,\n");
  const auto parts = rows_of_series(table, {"shop"});
  EXPECT_EQ(rows_to_forecast(table, shop_columns(), parts[0].rows), 0u);
  EXPECT_EQ(rows_to_forecast(table, shop_columns(), parts[1].rows), 1u);
  const auto known = covariates_of(table, shop_columns(), parts[1].rows, {}, 5);
  EXPECT_EQ(known, (xt::xarray<double>{{3, 3, 4, 4, 4}, {90, 90, 90, 90, 90}}));
}

/// Fills from the previous row of the same series, wherever it is.
TEST(SeriesTable, CarriesForwardWithinASeries) {
  NamedArray table = table_of(std::string(shops) + "north,1,2024-01-04,,,\n");
  carry_forward(table, shop_columns(), rows_of_series(table, {"shop"})[0].rows);
  EXPECT_EQ(table.values(5, 3), 7);
  EXPECT_EQ(table.values(5, 4), 2);
  NamedArray first = table_of("shop,item,day,sales\na,1,2024-01-01,1\nb,1,2024-01-01,\n");
  EXPECT_EQ(message_of<DataError>([&] { carry_forward(first, {.targets = {"sales"}}, {1}); }),
            "row 2, column sales: is missing in the first row of its series, so nothing can be "
            "carried forward");
}

/// Adds a column of zeros and ones for each text; a missing text sets none.
TEST(SeriesTable, TextsAmongCovariatesBecomeIndicators) {
  CsvOptions options;
  options.texts = {"feast", "price"};
  options.missing = "nan";
  const auto read = [&](const std::string& rows) {
    return parse_csv("day,sales,feast,price\n" + rows, "feasts", options);
  };
  NamedArray table = read("2024-01-01,5,new year,1\n2024-01-02,6,,2\n2024-01-03,7,kings,3\n");
  const SeriesColumns columns{.targets = {"sales"}, .known = {"feast", "price"}};
  const TextLevels levels = text_levels(table, columns);
  EXPECT_EQ(levels, (TextLevels{{"feast", {"new year", "kings"}}}));
  const SeriesColumns more = with_indicators(table, columns, levels);
  EXPECT_EQ(more.known, (std::vector<std::string>{"feast = new year", "feast = kings", "price"}));
  EXPECT_EQ(time_series(table, more, rows_of_series(table, {})[0]).covariates,
            (xt::xarray<double>{{1, 0, 0}, {0, 0, 1}, {1, 2, 3}}));
  const auto error = [&](const std::string& rows) {
    return message_of<DataError>([&] {
      NamedArray other = read(rows);
      with_indicators(other, columns, levels);
    });
  };
  EXPECT_EQ(error("2024-01-01,5,may,1\n"),
            "row 1, column feast: the model does not know \"may\"; it was trained on \"new year\" "
            "and 1 more");
  EXPECT_EQ(error("2024-01-01,5,,cheap\n"),
            "column price: holds texts, but the model learned numbers");
  EXPECT_EQ(message_of<DataError>(
                [&] { text_levels(read("2024-01-01,5,a,1\n2024-01-02,5,a,1x\n"), columns); }),
            "column price: holds numbers and texts such as \"1x\"; write all as numbers, or all as "
            "texts");
}

TEST(SeriesTable, SaysWhatIsWrong) {
  const auto error = [](const std::string& more, const SeriesColumns& columns) {
    return message_of<DataError>([&] {
      const NamedArray table = table_of(shops + more);
      for (const SeriesRows& part : rows_of_series(table, columns.series))
        time_series(table, columns, part);
    });
  };
  EXPECT_EQ(error(",1,2024-01-09,5,2,70\n", shop_columns()),
            "row 6, column shop: is missing, so the row belongs to no series");
  EXPECT_EQ(error("north,1,2024-01-09,5,2,71\n", shop_columns()),
            "row 6, column area: changes within its series, so it is not static; name it in "
            "data.known");
  EXPECT_EQ(error("north,1,2024-01-09,5,,70\n", shop_columns()),
            "row 6, column price: is missing; columns of data.known need values in future "
            "rows too");
  EXPECT_EQ(error("north,1,2024-01-02,5,2,70\n", shop_columns()),
            "row 6, column day: 2024-01-02 00:00:00 is repeated; remove a row, or name the column "
            "of series ids as data.series");
  SeriesColumns columns = shop_columns();
  columns.series = {"store"};
  EXPECT_EQ(error("", columns),
            "no column \"store\"; there are: \"shop\", \"item\", \"day\", \"sales\", \"price\", "
            "\"area\"");
}

/// Returns rows 0, 1, ... plus 1000 times the number of the series; one covariate of minus that.
std::vector<TimeSeries> counting_series(const std::vector<std::size_t>& rows) {
  std::vector<TimeSeries> all;
  for (std::size_t number = 0; number < rows.size(); ++number) {
    TimeSeries series{{"x"},
                      xt::xarray<double>::from_shape({1, rows[number]}),
                      {},
                      {"s" + std::to_string(number)}};
    for (std::size_t row = 0; row < rows[number]; ++row)
      series.values(0, row) = double(1000 * number + row);
    series.covariates = -series.values;
    all.push_back(series);
  }
  return all;
}

SeriesSpec tiny() {
  SeriesSpec spec;
  spec.lookback = 4, spec.horizon = 2, spec.splits = {0.5, 0.25, 0.25};
  return spec;
}

TEST(ManySeries, NoWindowGoesFromOneToAnother) {
  const SeriesWindows windows(counting_series({40, 80}), tiny());
  EXPECT_EQ(windows.examples(Split::train), (20u - 5) + (40u - 5));
  EXPECT_EQ(windows.examples(Split::test), (10u - 1) + (20u - 1));
  for (const Split split : {Split::train, Split::validation, Split::test}) {
    const SeriesBatch batch =
        batch_in_order(windows, split, 0, std::size_t(windows.examples(split)));
    for (std::size_t b = 0; b < batch.series.size(); ++b) {
      EXPECT_EQ(batch.past(b, 0, 0) >= 1000, batch.series[b] == 1);
      EXPECT_EQ(batch.future(b, 0, 1), batch.past(b, 0, 0) + 5);
      for (std::size_t i = 0; i < 6; ++i)
        EXPECT_EQ(batch.covariates(b, 0, i), -batch.past(b, 0, 0) - real(i));
    }
  }
  EXPECT_EQ(windows.words(),
            "2 series of 1 variate, 120 rows, 1 covariate  ·  50 windows to train, "
            "28 to validate, 28 to test");
}

TEST(ManySeries, EachHasItsOwnUnitAndCovariatesHaveOne) {
  const SeriesWindows windows(counting_series({40, 80}), tiny());
  EXPECT_EQ(windows.moments().mean, (std::vector<double>{9.5, 1019.5}));
  EXPECT_DOUBLE_EQ(windows.moments().deviation[1], std::sqrt((40.0 * 40 - 1) / 12));
  EXPECT_DOUBLE_EQ(windows.covariate_moments().mean[0], -(20 * 9.5 + 40 * 1019.5) / 60);
}

TEST(ManySeries, ThoseThatAreTooShortAreNamed) {
  const SeriesWindows windows(counting_series({40, 9, 80, 8}), tiny());
  EXPECT_EQ(windows.count(), 2u);
  EXPECT_EQ(windows.called({"s2"}), 1u);
  EXPECT_FALSE(windows.called({"s1"}));
  EXPECT_NE(windows.words().find(", without s1 (9 rows), s3 (8 rows): too short to train on"),
            std::string::npos)
      << windows.words();
  EXPECT_EQ(message_of<DataError>([] {
              SeriesWindows(counting_series({9, 8}), tiny());
            }),
            "no series is long enough to train on, for data.lookback = 4 and data.horizon = 2: s0 "
            "(9 rows), s1 (8 rows); shorten them or change data.splits");
}

TEST(ManySeries, AreOtherDataThanOneOfThem) {
  const auto print = [](const std::vector<std::size_t>& rows) {
    return SeriesWindows(counting_series(rows), tiny()).fingerprint();
  };
  EXPECT_EQ(print({40, 80}), print({40, 80}));
  EXPECT_NE(print({40, 80}), print({40}));
  EXPECT_NE(print({40, 80}), print({40, 81}));
}

}  // namespace series_table_test
}  // namespace bochner
