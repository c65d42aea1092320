#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/base/xtensor.hpp>
#include <bochner/data/formats/csv.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/series/backtest.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <cmath>

#include "data/messages.hpp"
#include "train/ask.hpp"
#include "train/training_run.hpp"

namespace bochner {
namespace forecast_dates_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

double wave(std::size_t row) { return 100 + 10 * std::sin(double(row) / 4); }

/// Returns the first days of months from January 2000.
std::string monthly_text(std::size_t months, std::size_t missing = 0) {
  std::string text = "date,a\n";
  for (std::size_t month = 0; month < months; ++month)
    if (missing == 0 || month != missing)
      text += fmt::format("{}-{:02}-01,{}\n", 2000 + month / 12, month % 12 + 1, wave(month));
  return text;
}

TEST(MonthlySeries, GoesOnFromMonthToMonth) {
  TemporaryFolder folder;
  const auto file = folder.write("months.csv", monthly_text(60));
  const auto task = make_task(tiny_config(
      file, {"model.kind=forecaster", "data.kind=series", "data.lookback=6", "data.horizon=3"}));
  const NamedArray next = predict(task, read_csv(file));
  ASSERT_EQ(next.values.shape(0), 3u);
  EXPECT_EQ(format_time(next.values(0, 0)), "2005-01-01 00:00:00");
  EXPECT_EQ(format_time(next.values(1, 0)), "2005-02-01 00:00:00");
  EXPECT_EQ(format_time(next.values(2, 0)), "2005-03-01 00:00:00");
  Page page("", "");
  illustrate(task, page);
  EXPECT_THAT(page.html(), HasSubstr(">2004-07</text>")) << "dates along the axis";
  EXPECT_THAT(page.html(), HasSubstr(">a from 2004-"));
}

/// Two rows do not determine months: the step is that of the training rows.
TEST(MonthlySeries, GoesOnFromFewRowsAsItLearned) {
  TemporaryFolder folder;
  const auto file = folder.write("months.csv", monthly_text(60));
  const auto task = make_task(tiny_config(
      file, {"model.kind=forecaster", "data.kind=series", "data.lookback=2", "data.horizon=3"}));
  NamedArray rows = read_csv(file);
  rows.values = xt::xarray<double>(xt::view(rows.values, xt::range(58, 60), xt::all()));
  const NamedArray next = predict(task, rows);
  EXPECT_EQ(format_time(next.values(1, 0)), "2005-02-01 00:00:00");
  EXPECT_EQ(format_time(next.values(2, 0)), "2005-03-01 00:00:00");
}

/// Rows from Monday to Friday do not show weekends either.
TEST(BusinessDays, GoOnFromAWeekAsItLearned) {
  constexpr std::size_t monday = 19723;  // 2024-01-01
  const auto rows = [&](std::size_t first, std::size_t last) {
    std::string text = "date,a\n";
    for (std::size_t day = first; day < last; ++day)
      if (day % 7 < 5)
        text += fmt::format("{},{}\n", format_time(86400.0 * double(monday + day)), wave(day));
    return text;
  };
  TemporaryFolder folder;
  const auto file = folder.write("days.csv", rows(0, 140));
  const auto task = make_task(tiny_config(
      file, {"model.kind=forecaster", "data.kind=series", "data.lookback=4", "data.horizon=3"}));
  const auto next_of = [&](std::size_t first, std::size_t last) {
    return format_time(
        predict(task, read_csv(folder.write("some.csv", rows(first, last)))).values(0, 0));
  };
  EXPECT_EQ(next_of(133, 138), "2024-05-20 00:00:00") << "a Monday after a Friday";
  EXPECT_EQ(next_of(126, 138), "2024-05-20 00:00:00");
}

/// Days as Excel counts them: neither seconds nor dates, and with a gap.
TEST(NumericTimes, StayNumbers) {
  std::string text = "day,a\n";
  for (std::size_t i = 0; i < 120; ++i)
    if (i != 40 && i != 41) text += fmt::format("{},{}\n", 44927 + i, wave(i));
  TemporaryFolder folder;
  const auto file = folder.write("excel.csv", text);
  const auto task = make_task(
      tiny_config(file, {"model.kind=forecaster", "data.kind=series", "data.lookback=6",
                         "data.horizon=3", "data.time_column=day", "data.time_format='%s'"}));
  EXPECT_THAT(task->data().words(),
              StartsWith("1 variate, 118 rows each 1, 1 gap that no window crosses (the longest "
                         "44966 to 44969)"));
  const NamedArray rows = read_csv(file, {.time = "day", .time_format = "%s"});
  std::string written;
  write_csv(predict(task, rows), [&](std::string_view piece) { written += piece; });
  EXPECT_THAT(written, StartsWith("day,a\n45047,"));
  EXPECT_THAT(written, testing::HasSubstr("\n45049,"));
}

/// data.columns chooses what is forecast, not whether there are times.
TEST(ChosenColumns, KeepTheTime) {
  std::string text = "day,a,b\n";
  for (std::size_t i = 0; i < 120; ++i)
    if (i != 40)
      text += fmt::format("{},{},5\n", format_time(86400.0 * double(19723 + i)), wave(i));
  TemporaryFolder folder;
  const auto file = folder.write("days.csv", text);
  const auto bare = folder.write("bare.csv", text.substr(text.find('\n') + 1));
  const auto words_of = [&](const std::filesystem::path& data, const char* columns) {
    return make_task(tiny_config(data, {"model.kind=forecaster", "data.kind=series",
                                        "data.lookback=6", "data.horizon=3", columns}))
        ->data()
        .words();
  };
  for (const char* columns : {"data.columns=a", "data.columns=['2']", "data.columns=[]"})
    EXPECT_THAT(words_of(file, columns), HasSubstr("119 rows each 1 day, 1 gap")) << columns;
  EXPECT_THAT(words_of(bare, "data.columns=['2']"), HasSubstr("119 rows each 1 day, 1 gap"));
}

TEST(MonthlySeries, NamesItsGapsAndDoesNotCrossThem) {
  TemporaryFolder folder;
  const auto file = folder.write("months.csv", monthly_text(61, 20));
  const std::vector<std::string> sets = {"model.kind=forecaster", "data.kind=series",
                                         "data.lookback=6", "data.horizon=3"};
  const auto task = make_task(tiny_config(file, sets));
  EXPECT_THAT(task->data().words(),
              StartsWith("1 variate, 60 rows each 1 month, 1 gap that no window crosses (the "
                         "longest 2001-08-01 00:00:00 to 2001-10-01 00:00:00)"));
  EXPECT_EQ(task->data().examples(Split::train), 42u - 8 - 8) << "as before 8 windows more";
}

/// Returns hours 9 to 17 of days of 2024.
std::string opening_hours(std::size_t days) {
  std::string text = "date,a\n";
  for (std::size_t i = 0; i < 9 * days; ++i)
    text += fmt::format(
        "{},{}\n", format_time(1704067200.0 + 86400.0 * double(i / 9) + 3600.0 * double(9 + i % 9)),
        wave(i));
  return text;
}

const std::vector<std::string> small_forecaster = {"model.kind=forecaster", "data.kind=series",
                                                   "data.lookback=6", "data.horizon=3"};

TEST(OpeningHours, GoOnInTheMorning) {
  TemporaryFolder folder;
  const auto file = folder.write("shop.csv", opening_hours(40));
  const auto task = make_task(tiny_config(file, small_forecaster));
  EXPECT_THAT(task->data().words(), StartsWith("1 variate, 360 rows  "));
  EXPECT_THAT(tables(task).notes(), IsEmpty());
  NamedArray rows = read_csv(file);
  rows.values = xt::xarray<double>(xt::view(rows.values, xt::range(330, 359), xt::all()));
  const NamedArray next = predict(task, rows);
  EXPECT_EQ(format_time(next.values(0, 0)), "2024-02-09 17:00:00");
  EXPECT_EQ(format_time(next.values(1, 0)), "2024-02-10 09:00:00");
  EXPECT_EQ(format_time(next.values(2, 0)), "2024-02-10 10:00:00");
  EXPECT_EQ(task->abilities().backtests->backtest({Split::test, 2, 0, 0})->season, 9u);
}

TEST(Pauses, WithoutARuleAreNoted) {
  std::string text = "date,a\n";
  for (std::size_t i = 0, hour = 0; i < 200; ++i, hour += i % 13 == 4 ? 11 : 1)
    text += fmt::format("{},{}\n", format_time(1704067200.0 + 3600.0 * double(hour)), wave(i));
  TemporaryFolder folder;
  const auto file = folder.write("some.csv", text);
  std::vector<std::string> sets = small_forecaster;
  EXPECT_THAT(tables(make_task(tiny_config(file, sets))).notes(), IsEmpty()) << "none is crossed";
  sets.push_back("data.pause=0");
  EXPECT_THAT(tables(make_task(tiny_config(file, sets))).notes(),
              ElementsAre("dates of the forecast are 1 hour apart; the training rows have further "
                          "gaps that neither weekdays nor times of day explain"));
}

TEST(KnownRows, AreTheNextOnes) {
  TemporaryFolder folder;
  std::string text = "day,promo,a\n";
  for (std::size_t i = 0; i < 60; ++i)
    text += fmt::format("{},{},{}\n", format_time(86400.0 * double(19723 + i)), i % 2, wave(i));
  std::vector<std::string> sets = small_forecaster;
  sets.push_back("data.known=promo");
  const auto file = folder.write("days.csv", text);
  const auto task = make_task(tiny_config(file, sets));
  const auto asked = [&](const std::string& rows) {
    return read_csv(folder.write("asked.csv", text + rows), {.missing = "nan"});
  };
  EXPECT_EQ(predict(task, asked("2024-03-01,1,\n2024-03-02,0,\n")).values.shape(0), 2u);
  EXPECT_EQ(message_of<DataError>([&] { predict(task, asked("2024-03-01,1,\n2024-03-20,0,\n")); }),
            "the row to forecast at 2024-03-20 00:00:00 is not the next one after 2024-03-01 "
            "00:00:00; the model learned rows 1 day apart; data.pause = 0 allows any step");
  sets.push_back("data.pause=0");
  EXPECT_NO_THROW(predict(make_task(tiny_config(file, sets)), asked("2024-04-01,1,\n")));
}

TEST(StampsWithOffsets, GoOnByTheClockOnTheWall) {
  std::string text = "date,a\n";
  for (std::size_t month = 0; month < 56; ++month)
    text += fmt::format("{}-{:02}-01T00:00:00+0{}:00,{}\n", 2000 + month / 12, month % 12 + 1,
                        month % 12 > 2 && month % 12 < 10 ? 2 : 1, wave(month));
  TemporaryFolder folder;
  const auto file = folder.write("berlin.csv", text);
  const auto task = make_task(tiny_config(file, small_forecaster));
  std::string written;
  write_csv(predict(task, read_csv(file)), [&](std::string_view piece) { written += piece; });
  EXPECT_THAT(written, StartsWith("date,a\n2004-09-01 00:00:00+02:00,"));
  EXPECT_THAT(written, HasSubstr("\n2004-11-01 00:00:00+02:00,"));
}

TEST(DateFormat, IsThatOfTheTraining) {
  std::string text = "date,a\n";
  for (std::size_t i = 0; i < 60; ++i)
    text += fmt::format("{:02}/{:02}/2023,{}\n", 1 + i % 28, 1 + i / 28, wave(i));
  TemporaryFolder folder;
  const auto task = make_task(tiny_config(folder.write("days.csv", text), small_forecaster));
  ReadOptions reading = tables(task).read_options();
  EXPECT_EQ(reading.csv.learned_time, "date");
  EXPECT_EQ(reading.csv.learned_format, "%d/%m/%Y");
  reading.csv.named_columns = tables(task).input_columns();
  const auto second_time = [&](const std::string& rows) {
    const NamedArray table = parse_csv("date,a\n" + rows, "asked", reading.csv);
    return format_time(table.values(1, table.time.value()));
  };
  EXPECT_EQ(second_time("01/02/2024,1\n02/02/2024,2\n"), "2024-02-02 00:00:00");
  EXPECT_EQ(second_time("02/01/2024,1\n02/13/2024,2\n"), "2024-02-13 00:00:00");
  EXPECT_EQ(second_time("2024-02-01,1\n2024-02-02,2\n"), "2024-02-02 00:00:00");
  EXPECT_THAT(message_of<DataError>([&] { second_time("W01,1\nW02,2\n"); }), HasSubstr("\"W01\""));
}

}  // namespace forecast_dates_test
}  // namespace bochner
