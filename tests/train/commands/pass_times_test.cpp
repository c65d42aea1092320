#include <gtest/gtest.h>

#include <bochner/train/commands/bench/measure.hpp>
#include <bochner/train/commands/bench/pass_times.hpp>
#include <numeric>

#include "train/training_run.hpp"

namespace bochner {
namespace pass_times_test {

/// Passes of shards with cross-shard reductions count as one, since they run interleaved.
TEST(PassTimes, FillNoMoreThanTheirSteps) {
  for (const std::size_t turns : {1, 2}) {
    const Config config =
        tiny_config("text", {"model.kind=classifier", "data.kind=shapes", "data.side=12",
                             turns > 1 ? "model.norm=batch" : "model.norm=rms",
                             "data.validation_examples=7", "train.batch=8", "train.shards=2"});
    const auto task = make_task(config);
    Trainer trainer(config, *task, 9);
    PassTimes times(parameters_of(task->model()), turns);
    const double seconds = seconds_of([&] {
      for (int step = 0; step < 3; ++step) trainer.step(&times);
    });
    times.end();
    const std::vector<double>& passes = times.passes();
    EXPECT_EQ(passes.size(), 3 * 2 / turns);
    const double all = double(turns) * std::accumulate(passes.begin(), passes.end(), 0.0);
    EXPECT_GT(all, 0);
    EXPECT_LE(all, seconds);
  }
}

}  // namespace pass_times_test
}  // namespace bochner
