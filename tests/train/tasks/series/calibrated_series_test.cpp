#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/numeric/philox.hpp>
#include <bochner/train/tasks/conformal/calibrate.hpp>
#include <cmath>

#include "train/ask.hpp"
#include "train/training_run.hpp"

namespace bochner {
namespace calibrated_series_test {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::size_t rows = 900;

/// Hours with noise of deviation 1 around a wave; the `shifted` last rows are 4 larger.
std::string hourly(std::size_t count, std::size_t shifted = 0) {
  const RandomFunction random{1, Purpose::test, 7};
  std::string text = "hour,load\n";
  for (std::size_t row = 0; row < count; ++row)
    text += fmt::format("{},{}\n", row * 3600,
                        10 * std::sin(double(row) * 0.2618) + random.normal(row) +
                            (row + shifted >= count ? 4 : 0));
  return text;
}

class CalibratedSeriesTest : public testing::Test {
 protected:
  std::unique_ptr<Task> opened(const std::string& text, const std::vector<std::string>& sets) {
    config_ = tiny_config(folder_.write("hours.csv", text), with(sets));
    auto task = make_task(config_);
    task->start();
    return task;
  }
  static std::vector<std::string> with(const std::vector<std::string>& sets) {
    std::vector<std::string> all = {"data.kind=series", "data.time_column=hour",
                                    "data.time_format='%s'", "data.lookback=24", "data.horizon=6"};
    all.insert(all.end(), sets.begin(), sets.end());
    return all;
  }
  std::unique_ptr<Task> ensemble(const std::string& splits = "[1,0,0]") {
    return opened(hourly(rows), {"model.kind=ensemble", "model.seasons=[24]", "train.steps=0",
                                 "model.members=['seasonal','ridge']", "data.splits=" + splits});
  }
  std::unique_ptr<Task> forecaster(std::size_t shifted = 0) {
    auto task = opened(hourly(rows, shifted),
                       {"model.kind=forecaster", "model.backbone=linear", "model.loss=mse",
                        "model.instance_norm.kind=none", "data.splits=[400,250,250]",
                        "optim.lr=0.01", "train.batch=32"});
    train(config_, *task, 200);
    return task;
  }
  UsesCalibration& calibrated(Task& task) {
    UsesCalibration& learner = *task.learner().abilities().calibrated;
    learner.set_calibration(calibrate(config_, task));
    return learner;
  }
  NamedArray question(Task& task, const std::string& text) const {
    return read_array(folder_.write("question.csv", text),
                      task.learner().abilities().tables->read_options());
  }

  TemporaryFolder folder_;
  Config config_ = tiny_config("unused");
};

TEST_F(CalibratedSeriesTest, CoversTheTestRows) {
  const auto task = forecaster();
  const CoverageReport report = coverage_of(calibrate(config_, *task), *task, Split::test, 0.9, 1);
  for (const Coverage& method : report.methods) {
    EXPECT_NEAR(method.covered / method.terms, 0.9, 0.03) << method.name;
    EXPECT_NEAR(method.width / method.terms, 2 * 1.645 * 1.1, 0.8) << method.name;
  }
}

TEST_F(CalibratedSeriesTest, AdaptsToAShift) {
  const auto task = forecaster(120);
  const CoverageReport report = coverage_of(calibrate(config_, *task), *task, Split::test, 0.9, 1);
  EXPECT_LT(report.methods[0].covered / report.methods[0].terms, 0.85);
  EXPECT_GT(report.methods[1].covered / report.methods[1].terms, 0.86);
}

TEST_F(CalibratedSeriesTest, PredictsIntervalsThatFollowKnownRows) {
  const auto task = forecaster();
  UsesCalibration& learner = calibrated(*task);
  learner.cover(0.9);
  const NamedArray held = predict(task, question(*task, hourly(650)));
  EXPECT_THAT(held.columns, ElementsAre("hour", "load", "load_0.05", "load_0.95"));
  EXPECT_THAT(tables(task).notes(), ElementsAre());
  const NamedArray later = predict(task, question(*task, hourly(rows, 150)));
  EXPECT_THAT(tables(task).notes(), ElementsAre(HasSubstr("errors of the last 250 rows")));
  const auto width = [](const NamedArray& of, std::size_t row) {
    return of.values(row, 3) - of.values(row, 2);
  };
  for (std::size_t h = 0; h < 6; ++h) {
    EXPECT_NEAR(held.values(h, 3) + held.values(h, 2), 2 * held.values(h, 1), 1e-4);
    EXPECT_NEAR(width(held, h), 2 * 1.645 * 1.1, 0.9);
    EXPECT_GT(width(later, h), width(held, h));
  }
}

TEST_F(CalibratedSeriesTest, FillsInAndKeepsTheRest) {
  const auto task = ensemble();
  std::string text = hourly(300);
  const auto erase = [&](std::size_t row) {
    const std::size_t at = text.find(fmt::format("\n{},", row * 3600));
    const std::size_t from = text.find(',', at) + 1;
    text.erase(from, text.find('\n', from) - from);
  };
  for (const std::size_t row : {100u, 101u, 102u, 200u}) erase(row);
  const NamedArray asked = question(*task, text);
  const NamedArray filled = calibrated(*task).impute(asked);
  EXPECT_THAT(filled.columns, ElementsAre("hour", "load", "filled"));
  for (std::size_t row = 0; row < 300; ++row) {
    const bool missing = std::isnan(asked.values(row, 1));
    EXPECT_EQ(filled.values(row, 2), missing);
    if (missing)
      EXPECT_NEAR(filled.values(row, 1), 10 * std::sin(double(row) * 0.2618), 3) << row;
    else
      EXPECT_EQ(filled.values(row, 1), asked.values(row, 1));
  }
}

TEST_F(CalibratedSeriesTest, ScoresRowsWithoutTheirFuture) {
  const auto task = ensemble();
  UsesCalibration& learner = calibrated(*task);
  const NamedArray some = learner.anomalies(question(*task, hourly(200))),
                   all = learner.anomalies(question(*task, hourly(260, 60)));
  EXPECT_THAT(some.columns, ElementsAre("hour", "load", "load_expected", "score", "p"));
  for (std::size_t row = 100; row < 200; ++row)
    for (std::size_t column = 0; column < 5; ++column)
      EXPECT_EQ(some.values(row, column), all.values(row, column)) << row;
  EXPECT_GT(all.values(200, 3), 5);
}

TEST_F(CalibratedSeriesTest, SaysWhatIsMissing) {
  const auto task = opened(hourly(rows), {"model.kind=forecaster", "data.splits=[1,0,0]"});
  EXPECT_THAT(message_of<std::invalid_argument>([&] { calibrate(config_, *task); }),
              HasSubstr("give data.splits a validation part"));
}

}  // namespace calibrated_series_test
}  // namespace bochner
