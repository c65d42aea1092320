#include <gtest/gtest.h>

#include <bochner/train/tasks/conformal/calibrate.hpp>
#include <cmath>
#include <numeric>

#include "train/ask.hpp"
#include "train/training_run.hpp"

namespace bochner {
namespace event_surprise_test {

Config hawkes() {
  return tiny_config("unused",
                     {"model.kind=events", "data.kind=hawkes", "data.length=12",
                      "data.validation_examples=7", "model.positions=none", "model.time=free"});
}

TEST(EventSurprise, HasTheLossAsMean) {
  const auto task = make_task(hawkes());
  const Evaluation result = *evaluate_task(*task, Split::validation, 3);
  const std::vector<double> scores = calibrate(hawkes(), *task).scores.at(0);
  ASSERT_EQ(scores.size(), result.terms);
  EXPECT_NEAR(std::accumulate(scores.begin(), scores.end(), 0.0) / double(scores.size()),
              result.loss(), 1e-5);
}

TEST(EventSurprise, LongSilenceIsUnlikely) {
  const auto task = make_task(hawkes());
  UsesCalibration& learner = *task->learner().abilities().calibrated;
  learner.set_calibration(calibrate(hawkes(), *task));
  const NamedArray events{xt::xarray<double>{{0, 1}, {1, 0}, {1000, 2}, {1000.5, 1}},
                          {"time", "type"}};
  const NamedArray scores = learner.anomalies(events);
  EXPECT_EQ(scores.columns, (std::vector<std::string>{"time", "score", "p"}));
  EXPECT_TRUE(std::isnan(scores.values(0, 1)));
  EXPECT_GT(scores.values(2, 1), 100);
  EXPECT_DOUBLE_EQ(scores.values(2, 2), 1.0 / 85);  // 84 held-out events
  EXPECT_LT(scores.values(3, 1), scores.values(2, 1));
}

}  // namespace event_surprise_test
}  // namespace bochner
