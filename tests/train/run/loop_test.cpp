#include <gtest/gtest.h>

#include <algorithm>
#include <bochner/train/run/log/metrics.hpp>

#include "faults/crashing_storage.hpp"
#include "train/training_run.hpp"

namespace bochner {
namespace loop_test {

TEST(TrainingLoop, PatienceHasAReferenceOfItsOwnAndTheBestIsTheLowest) {
  TemporaryFolder folder;
  faults::CrashingStorage storage;
  start_leg(storage,
            tiny_config(folder.write("text", tiny_text()),
                        {"optim.lr=0.01", "train.validate.every=5", "train.checkpoint.keep_last=1",
                         "train.stop.min_delta=100", "train.stop.patience=4"}),
            1);
  RunDirectory run = RunDirectory::read(storage, tiny_run);
  std::vector<std::string> skipped;
  const TrainerState state = run.newest_valid(skipped)->state();
  const Curve valid =
      read_metrics(read_file(storage, tiny_run / "metrics.jsonl"), "metrics").curves.at("valid");
  const auto lowest = std::min_element(valid.y.begin(), valid.y.end());
  ASSERT_NE(lowest, valid.y.begin()) << "nothing was learned";
  const double step = valid.x[std::size_t(lowest - valid.y.begin())];
  EXPECT_EQ(double(state.best.front().step), step);
  EXPECT_EQ(state.best.front().metric, *lowest);
  EXPECT_EQ(double(run.load_best().state().step), step);
  EXPECT_EQ(state.step, 25u);
  EXPECT_EQ(state.improved_step, 5u);
  EXPECT_EQ(state.validations_since_improvement, 4u);
}

/// The tail between two lines is training too.
TEST(TrainingLoop, LogsTheLastStep) {
  TemporaryFolder folder;
  const auto text = folder.write("text", tiny_text());
  const auto metrics_of = [&](const std::string& every) {
    faults::CrashingStorage storage;
    start_leg(storage, tiny_config(text, {"train.steps=7", "train.log.every=" + every}), 1);
    return read_metrics(read_file(storage, tiny_run / "metrics.jsonl"), "metrics").curves;
  };
  EXPECT_EQ(metrics_of("10").at("loss").x, std::vector<double>{7});
  EXPECT_EQ(metrics_of("5").at("loss").x, (std::vector<double>{5, 7}));
  EXPECT_EQ(metrics_of("0").count("loss"), 0u);
}

}  // namespace loop_test
}  // namespace bochner
