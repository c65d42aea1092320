#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/data/formats/time_stamp.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/studies/backtest_figures.hpp>
#include <bochner/train/tasks/task.hpp>
#include <cmath>

#include "data/messages.hpp"
#include "train/ask.hpp"
#include "train/training_run.hpp"
#include "train/well_formed.hpp"

namespace bochner {
namespace backtest_test {

using testing::HasSubstr;

constexpr std::size_t H = 10;

/// Days of one or two columns.
std::string daily(std::size_t rows, const std::function<std::string(std::size_t)>& values,
                  const char* names = "x") {
  std::string text = std::string("day,") + names + "\n";
  for (std::size_t row = 0; row < rows; ++row)
    text += fmt::format("{},{}\n", format_time(86400.0 * double(row)), values(row));
  return text;
}

class BacktestTest : public testing::Test {
 protected:
  /// A model whose weights are zero repeats the last value.
  std::unique_ptr<Task> persistence(const std::string& text,
                                    const std::vector<std::string>& more = {}) {
    std::vector<std::string> sets = {"model.kind=forecaster", "data.kind=series",
                                     "data.lookback=14", "data.horizon=10",
                                     "model.instance_norm=last"};
    sets.insert(sets.end(), more.begin(), more.end());
    auto task = make_task(tiny_config(folder_.write("days.csv", text), sets));
    for (const NamedParameter& named : parameters_of(task->model()))
      named.parameter->value().fill(0);
    return task;
  }
  TemporaryFolder folder_;
};

std::optional<Backtest> backtest_of(const std::unique_ptr<Task>& task, const BacktestPlan& plan) {
  return task->abilities().backtests->backtest(plan);
}

const BacktestFigure& figure(const std::vector<BacktestFigure>& figures, const char* forecast,
                             const char* measure) {
  return *std::ranges::find_if(figures, [&](const BacktestFigure& each) {
    return each.forecast == forecast && each.measure == measure;
  });
}

/// On a line that rises by 1, the last value is off by h at row h, the last week by a whole number
/// of weeks, and the scale is a week.
TEST_F(BacktestTest, OfALineIsInClosedForm) {
  const auto task = persistence(daily(300, [](std::size_t row) { return std::to_string(row); }));
  const Backtest backtest = backtest_of(task, {Split::test, 4}).value();
  EXPECT_EQ(backtest.unit, "x");
  EXPECT_EQ(backtest.season, 7u);
  EXPECT_EQ(backtest.starts.size(), 4u);
  EXPECT_EQ(backtest.starts.back(), format_time(86400.0 * (300 - H)));
  EXPECT_EQ(backtest.starts.front(), format_time(86400.0 * (300 - 4 * H)));
  const std::vector<BacktestFigure> figures = figures_of(backtest);
  EXPECT_EQ(figures.size(), 3u * 3);
  for (const char* naive : {"forecast", "last value"})
    for (std::size_t h = 0; h < H; ++h) {
      EXPECT_NEAR(figure(figures, naive, "rmse").rows[h].value, double(h + 1), 1e-3);
      EXPECT_NEAR(figure(figures, naive, "mase").rows[h].value, double(h + 1) / 7, 1e-3);
    }
  const BacktestFigure& season = figure(figures, "season of 7", "mae");
  for (std::size_t h = 0; h < H; ++h) EXPECT_DOUBLE_EQ(season.rows[h].value, h < 7 ? 7 : 14);
  EXPECT_DOUBLE_EQ(season.all.value, (7 * 7 + 3 * 14) / 10.0);
  EXPECT_DOUBLE_EQ(season.all.low, season.all.value) << "all origins are alike";
}

TEST_F(BacktestTest, IntervalsAreThoseOverOrigins) {
  const auto task = persistence(daily(
      300, [](std::size_t row) { return fmt::format("{}", std::sin(0.05 * double(row * row))); }));
  const auto figures = figures_of(backtest_of(task, {Split::test, 5}).value());
  const Resampled& all = figure(figures, "forecast", "rmse").all;
  EXPECT_LT(all.low, all.value);
  EXPECT_LT(all.value, all.high);
  const auto one = figures_of(backtest_of(task, {Split::test, 1}).value());
  EXPECT_EQ(figure(one, "forecast", "mae").all.low, figure(one, "forecast", "mae").all.high);
}

TEST_F(BacktestTest, StrideAndSeasonMayBeSaid) {
  const auto task =
      persistence(daily(300, [](std::size_t row) { return std::to_string(row % 5); }));
  const Backtest backtest = backtest_of(task, {Split::test, 0, 3, 5}).value();
  EXPECT_EQ(backtest.starts.size(), (60 - H) / 3 + 1);
  EXPECT_EQ(figure(figures_of(backtest), "season of 5", "rmse").all.value, 0);
  EXPECT_TRUE(std::isnan(figure(figures_of(backtest), "season of 5", "mase").all.value))
      << "a season that repeats has no difference to measure by";
}

/// Two variates count in deviations of their training rows; quantiles that are all equal have the
/// loss of a point.
TEST_F(BacktestTest, OfQuantilesHasThePinballLoss) {
  const auto task = persistence(
      daily(
          300, [](std::size_t row) { return fmt::format("{},{}", row, 100 * row); }, "x,y"),
      {"model.loss=quantile", "model.quantiles=[0.5]"});
  const Backtest backtest = backtest_of(task, {Split::test, 2}).value();
  EXPECT_EQ(backtest.unit, "");
  const auto figures = figures_of(backtest);
  for (std::size_t h = 0; h < H; ++h)
    EXPECT_NEAR(figure(figures, "forecast", "pinball").rows[h].value,
                figure(figures, "last value", "mae").rows[h].value / 2, 1e-6);
  const double deviation = std::sqrt((210.0 * 210 - 1) / 12);
  EXPECT_NEAR(figure(figures, "last value", "rmse").rows[0].value, 1 / deviation, 1e-9);
}

/// As the losses of an evaluation do.
TEST_F(BacktestTest, CountsInTheUnitOfTheModel) {
  const auto task = persistence(daily(
      300, [](std::size_t row) { return fmt::format("{},{}", row, row); }, "x,y"));
  for (const NamedTensor& named : buffers_of(task->model()))
    if (named.name == "standardize.deviation") named.tensor->fill(4);
  const auto figures = figures_of(backtest_of(task, {Split::test, 2}).value());
  EXPECT_DOUBLE_EQ(figure(figures, "last value", "rmse").rows[0].value, 0.25);
}

TEST_F(BacktestTest, SaysWhatThereIsNoRoomFor) {
  const auto task = persistence(daily(300, [](std::size_t row) { return std::to_string(row); }));
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              backtest_of(task, {Split::test, 9});
            }),
            "[backtest] the test split has only 6 origins that are 10 rows apart, not 9; ask for "
            "fewer, a smaller stride or a larger split");
  EXPECT_THAT(message_of<std::invalid_argument>([&] {
                backtest_of(task, {Split::test, 1, 0, 200});
              }),
              HasSubstr("a season of 200 rows is too long"));
  EXPECT_FALSE(make_task(tiny_config("unused", {"data.kind=copy"}))->abilities().backtests);
}

TEST_F(BacktestTest, IsDrawn) {
  const auto task = persistence(daily(300, [](std::size_t row) { return std::to_string(row); }));
  Page page("title", "");
  add_backtest(page, backtest_of(task, {}).value());
  EXPECT_EQ(xml_problem(page.html()), "");
  for (const char* words : {"Rolling origins", "season of 7", "mase", "6 origins, 10 rows apart"})
    EXPECT_THAT(page.html(), HasSubstr(words));
}

/// Errors are scaled by the training rows: later ones would leak into the measure.
TEST_F(BacktestTest, ScalesByTheTrainingRowsAlone) {
  const auto task = persistence(daily(300, [](std::size_t row) {
    return std::to_string(row < 240 ? row : 240 + 5 * (row - 240));
  }));
  const auto figures = figures_of(backtest_of(task, {Split::test, 2}).value());
  for (std::size_t h = 0; h < H; ++h)
    EXPECT_NEAR(figure(figures, "last value", "mase").rows[h].value, 5 * double(h + 1) / 7, 1e-3);
}

}  // namespace backtest_test
}  // namespace bochner
