#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/train/tasks/conformal/calibrate.hpp>
#include <bochner/train/tasks/conformal/class_calibration.hpp>
#include <cmath>

#include "train/ask.hpp"
#include "train/training_run.hpp"

namespace bochner {
namespace class_calibration_test {

using testing::ElementsAre;

/// Scores 0.1, ..., 0.9 of class a, 0.05, ..., 0.45 of b, and none of c.
Calibration three_classes() {
  Calibration calibration{.classes = {"a", "b", "c"}, .scores = {{}, {}, {}}};
  for (int i = 1; i <= 9; ++i) {
    calibration.scores[0].push_back(0.1 * i);
    calibration.scores[1].push_back(0.05 * i);
  }
  return calibration;
}

TEST(ClassCalibration, BoundsAreQuantilesOfEachClass) {
  const std::vector<double> bounds = class_bounds(three_classes(), 0.8);
  EXPECT_NEAR(bounds[0], 0.8, 1e-12);
  EXPECT_NEAR(bounds[1], 0.4, 1e-12);
  EXPECT_TRUE(std::isinf(bounds[2]));
}

TEST(ClassCalibration, SetsHoldClassesWithinTheirBounds) {
  NamedArray answer{xt::xarray<double>{{0.3, 0.65, 0.05}, {0.1, 0.5, 0.4}}, {"p_a", "p_b", "p_c"}};
  const NamedArray sets = with_class_sets(answer, "p_", three_classes(), 0.8);
  EXPECT_THAT(sets.columns, ElementsAre("p_a", "p_b", "p_c", "in_set_a", "in_set_b", "in_set_c"));
  const double expected[2][3] = {{1, 1, 1}, {0, 0, 1}};
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(sets.values(i, 3 + k), expected[i][k]);
}

TEST(ClassCalibration, FitsAtOnceWithoutEachFifth) {
  TemporaryFolder folder;
  std::string table = "text,label\n";
  for (int i = 0; i < 60; ++i)
    table += fmt::format("{} number {},{}\n", i % 2 ? "a warm day" : "the cold night", i % 7,
                         i % 2 ? "day" : "night");
  const Config config =
      tiny_config(folder.write("texts.csv", table),
                  {"model.kind=bag_of_words", "data.kind=texts", "data.text_column=text",
                   "data.label_column=label", "data.validation=0", "train.steps=0"});
  const auto task = make_task(config);
  task->start();
  const Calibration calibration = calibrate(config, *task);
  EXPECT_THAT(calibration.classes, ElementsAre("day", "night"));
  EXPECT_EQ(calibration.scores[0].size() + calibration.scores[1].size(), 60u);
  for (const auto& scores : calibration.scores)
    for (const double score : scores) EXPECT_LT(score, 0.5);
  const CoverageReport report = coverage_of(calibration, *task, Split::train, 0.9, 1);
  EXPECT_EQ(report.methods[0].covered, 60);
  EXPECT_EQ(report.methods[0].width, 60);
}

}  // namespace class_calibration_test
}  // namespace bochner
