#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/data/formats/csv.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/task.hpp>
#include <cmath>
#include <xtensor/xview.hpp>

#include "train/training_run.hpp"

namespace bochner {
namespace forecast_dates_test {

using testing::HasSubstr;
using testing::StartsWith;

double wave(std::size_t row) { return 100 + 10 * std::sin(double(row) / 4); }

/// The first days of so many months from January 2000 on.
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
  const NamedArray next = task->predict(read_csv(file));
  ASSERT_EQ(next.values.shape(0), 3u);
  EXPECT_EQ(format_time(next.values(0, 0)), "2005-01-01 00:00:00");
  EXPECT_EQ(format_time(next.values(1, 0)), "2005-02-01 00:00:00");
  EXPECT_EQ(format_time(next.values(2, 0)), "2005-03-01 00:00:00");
  Page page("", "");
  task->illustrate(page);
  EXPECT_THAT(page.html(), HasSubstr(">2004-07</text>")) << "dates along the axis";
  EXPECT_THAT(page.html(), HasSubstr(">a from 2004-"));
}

/// Two rows tell no months: the step is that of the training rows.
TEST(MonthlySeries, GoesOnFromFewRowsAsItLearned) {
  TemporaryFolder folder;
  const auto file = folder.write("months.csv", monthly_text(60));
  const auto task = make_task(tiny_config(
      file, {"model.kind=forecaster", "data.kind=series", "data.lookback=2", "data.horizon=3"}));
  NamedArray rows = read_csv(file);
  rows.values = xt::xarray<double>(xt::view(rows.values, xt::range(58, 60), xt::all()));
  const NamedArray next = task->predict(rows);
  EXPECT_EQ(format_time(next.values(1, 0)), "2005-02-01 00:00:00");
  EXPECT_EQ(format_time(next.values(2, 0)), "2005-03-01 00:00:00");
}

/// Monday to Friday tell no weekend either.
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
        task->predict(read_csv(folder.write("some.csv", rows(first, last)))).values(0, 0));
  };
  EXPECT_EQ(next_of(133, 138), "2024-05-20 00:00:00") << "a Monday behind a Friday";
  EXPECT_EQ(next_of(126, 138), "2024-05-20 00:00:00");
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

}  // namespace forecast_dates_test
}  // namespace bochner
