#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/series/ensemble_learner.hpp>
#include <cmath>

#include "train/ask.hpp"
#include "train/training_run.hpp"

namespace bochner {
namespace ensemble_task_test {

using testing::ElementsAre;
using testing::HasSubstr;

double load_at(std::size_t row) { return 50 + double(row % 7) * 3 + std::sin(double(row * row)); }

/// Days with a load; without the rows that `skips` chooses.
template <class Skips>
std::string daily(std::size_t rows, const Skips& skips) {
  std::string text = "day,load\n";
  for (std::size_t row = 0; row < rows; ++row)
    if (!skips(row)) text += fmt::format("{},{}\n", row * 86400, load_at(row));
  return text;
}

class EnsembleTaskTest : public testing::Test {
 protected:
  Config config(const std::string& text, const std::vector<std::string>& sets = {}) const {
    std::vector<std::string> all = {"model.kind=ensemble",
                                    "data.kind=series",
                                    "data.time_column=day",
                                    "data.time_format='%s'",
                                    "data.splits=[120,0,30]",
                                    "data.lookback=14",
                                    "data.horizon=7",
                                    "data.pause=0",
                                    "model.seasons=[7]",
                                    "train.steps=0",
                                    "model.members=['seasonal','ridge','smoothing']"};
    all.insert(all.end(), sets.begin(), sets.end());
    return tiny_config(folder_.write("days.csv", text), all);
  }
  std::unique_ptr<Task> fitted(const Config& config) const {
    auto task = make_task(config);
    task->start();
    return task;
  }
  NamedArray question(const std::string& text) const {
    ReadOptions reading;
    reading.csv.time = "day", reading.csv.time_format = "%s";
    return read_array(folder_.write("question.csv", text), reading);
  }
  TemporaryFolder folder_;
};

const auto none = [](std::size_t) { return false; };

TEST_F(EnsembleTaskTest, ForecastsWithBandsInTheUnitOfTheData) {
  const auto task = fitted(config(daily(150, none)));
  const NamedArray answer = predict(task, question(daily(150, none)));
  EXPECT_THAT(answer.columns,
              ElementsAre("day", "load", "load_0.025", "load_0.1", "load_0.9", "load_0.975"));
  ASSERT_EQ(answer.values.shape()[0], 7u);
  for (std::size_t h = 0; h < 7; ++h) {
    EXPECT_EQ(answer.values(h, 0), 86400.0 * double(150 + h));
    EXPECT_NEAR(answer.values(h, 1), 50 + double((150 + h) % 7) * 3, 1.5);
    EXPECT_LE(answer.values(h, 2), answer.values(h, 3));
    EXPECT_LT(answer.values(h, 3), answer.values(h, 1));
    EXPECT_LT(answer.values(h, 1), answer.values(h, 4));
    EXPECT_LE(answer.values(h, 4), answer.values(h, 5));
  }
}

TEST_F(EnsembleTaskTest, ForecastsMoreRowsByRecursion) {
  const auto task = fitted(config(daily(150, none)));
  const NamedArray once = predict(task, question(daily(150, none)));
  ForecastsRows& rows = *task->learner().abilities().rows;
  rows.forecast_rows(17);
  const NamedArray all = predict(task, question(daily(150, none)));
  EXPECT_THAT(tables(task).notes(), ElementsAre(HasSubstr("after the first 7")));
  ASSERT_EQ(all.values.shape()[0], 17u);
  std::string appended = daily(150, none);
  for (std::size_t h = 0; h < 7; ++h) {
    for (std::size_t column = 0; column < 6; ++column)
      EXPECT_EQ(all.values(h, column), once.values(h, column));
    appended += fmt::format("{},{}\n", 86400 * (150 + h), once.values(h, 1));
  }
  rows.forecast_rows(3);
  const NamedArray next = predict(task, question(appended));
  ASSERT_EQ(next.values.shape()[0], 3u);
  for (std::size_t h = 0; h < 3; ++h) {
    EXPECT_EQ(all.values(7 + h, 0), 86400.0 * double(157 + h));
    EXPECT_EQ(all.values(7 + h, 1), next.values(h, 1));
    const auto width = [](const NamedArray& of, std::size_t row) {
      return of.values(row, 5) - of.values(row, 1);
    };
    EXPECT_NEAR(width(all, 7 + h), std::hypot(width(next, h), width(all, 6)), 1e-4);
  }
}

TEST_F(EnsembleTaskTest, KnowsCovariatesOfRowsToCome) {
  const auto promo = [](std::size_t row) { return row * row % 11 < 3 ? 1 : 0; };
  const auto text = [&](std::size_t rows, std::size_t with_load) {
    std::string text = "day,load,promo\n";
    for (std::size_t row = 0; row < rows; ++row)
      text += fmt::format("{},{},{}\n", row * 86400,
                          row < with_load ? fmt::format("{}", load_at(row) + 20 * promo(row)) : "",
                          promo(row));
    return text;
  };
  const auto task =
      fitted(config(text(150, 150), {"data.columns=['load']", "data.known=['promo']"}));
  ReadOptions reading = tables(task).read_options();
  reading.csv.time = "day", reading.csv.time_format = "%s";
  const auto asked = [&](const std::string& rows) {
    return predict(task, read_array(folder_.write("question.csv", rows), reading));
  };
  const NamedArray answer = asked(text(154, 150));
  ASSERT_EQ(answer.values.shape()[0], 4u);
  for (std::size_t h = 0; h < 4; ++h)
    EXPECT_NEAR(answer.values(h, 1), 50 + double((150 + h) % 7) * 3 + 20 * promo(150 + h), 2.5);
  EXPECT_THROW(asked(text(150, 150)), DataError) << "no rows to come";
  EXPECT_GT(evaluate_task(*task, Split::test, 4)->mean("coverage"), 0.6);
  Page page("run", "");
  task->illustrate(page);
  EXPECT_TRUE(task->verdict({Split::validation}).beats_naive());
}

TEST_F(EnsembleTaskTest, FillsMissingRowsWithThoseOfTheSeasonBefore) {
  const auto skips = [](std::size_t row) { return row % 23 == 10; };
  const auto task = fitted(config(daily(150, skips), {"data.splits=[110,0,30]"}));
  const NamedArray answer = predict(task, question(daily(150, skips)));
  for (std::size_t h = 0; h < 7; ++h)
    EXPECT_NEAR(answer.values(h, 1), 50 + double((150 + h) % 7) * 3, 1.5);
}

TEST_F(EnsembleTaskTest, RegularRowsBeginAfterALongGap) {
  constexpr std::size_t rows = 60;
  TimeSeries series{{"load"}, xt::zeros<double>({std::size_t(1), rows}), {}};
  for (std::size_t row = 0; row < rows; ++row) {
    series.values(0, row) = double(row);
    series.times.push_back(86400.0 * double(row + (row < 20 ? 0 : row < 50 ? 1 : 40)));
  }
  const std::vector<double> on_a_line = regular_rows(SteppedSeries(series), 0, 50, 1),
                            of_a_season = regular_rows(SteppedSeries(series), 0, 50, 7);
  ASSERT_EQ(on_a_line.size(), 51u);
  EXPECT_EQ(on_a_line[20], 19.5);
  EXPECT_EQ(of_a_season[20], 13);
  EXPECT_EQ(on_a_line[50], 49);
  const std::vector<double> after = regular_rows(SteppedSeries(series), 0, rows, 7);
  ASSERT_EQ(after.size(), 10u);
  EXPECT_EQ(after.front(), 50);
}

TEST_F(EnsembleTaskTest, AnswersWithoutItsData) {
  const Config keys = config(daily(150, none));
  const auto task = fitted(keys);
  const auto learner = without_data(keys, task);
  const NamedArray asked = question(daily(150, none));
  EXPECT_EQ(learner->abilities().tables->predict(asked).values, predict(task, asked).values);
  expect_refuses_damaged_facts(keys, task->learner().facts());
}

TEST_F(EnsembleTaskTest, EvaluatesAndBacktestsTheTestRows) {
  const auto task = fitted(config(daily(150, none)));
  const Evaluation test = *evaluate_task(*task, Split::test, 4);
  EXPECT_EQ(test.terms, 24u * 7);
  EXPECT_LT(test.loss(), 1.2);
  EXPECT_GT(test.mean("coverage"), 0.6);
  const auto backtest = task->abilities().backtests->backtest({.split = Split::test, .origins = 3});
  ASSERT_TRUE(backtest);
  double model = 0, naive = 0;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t h = 0; h < 7; ++h) {
      model += backtest->forecasts[0].origins[i].absolute[h];
      naive += backtest->forecasts.back().origins[i].absolute[h];
    }
  EXPECT_LT(model, naive);
}

TEST_F(EnsembleTaskTest, SaysWhetherItBeatsTheNaiveForecast) {
  const auto task = fitted(config(daily(150, none)));
  const Verdict test = task->verdict({Split::test});
  EXPECT_THAT(test.details.front(), HasSubstr("compared"));
  EXPECT_THAT(test.words(), HasSubstr("mean absolute error of load"));
  EXPECT_TRUE(test.beats_naive());
  const Verdict competition = task->verdict({Split::validation});  // which has no rows
  EXPECT_EQ(competition.best_naive().name, "last season of 7");
  EXPECT_TRUE(competition.beats_naive());
  EXPECT_THAT(competition.words(), HasSubstr("bands of 80 and 95 % held"));
  const std::string html = page_of(*task);
  for (const char* drawn : {"Forecasts", "naive", "row of the horizon", "origins apart"})
    EXPECT_THAT(html, HasSubstr(drawn));
}

TEST_F(EnsembleTaskTest, RefusesStepsAndSeasonsThatAreNot) {
  const auto error = [&](const std::string& set) -> std::string {
    try {
      config(daily(150, none), {set});
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(error("train.steps=5"), HasSubstr("must be 0"));
  EXPECT_THAT(error("model.seasons=[7, 7]"), HasSubstr("ascending"));
  EXPECT_THAT(error("model.seasons=[7.5]"), HasSubstr("whole"));
}

}  // namespace ensemble_task_test
}  // namespace bochner
