#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/messages.hpp"
#include "faults/crashing_storage.hpp"
#include "train/thread_processes.hpp"
#include "train/training_run.hpp"

namespace bochner {
namespace shared_session_test {

using testing::HasSubstr;

/// A model that is calibrated when it is new, which those that join it need not be.
Config shared_config(const TemporaryFolder& folder) {
  return tiny_config(folder.write("text", tiny_text()),
                     {"train.batch=6", "train.shards=3", "optim.ema=0.5", "model.mixer.kind=linear",
                      "model.mixer.features=hybrid_cluster", "model.mixer.density.start=data"});
}

TEST(SharedSession, IsJoinedWithAllThatTheFirstProcessHas) {
  TemporaryFolder folder;
  const Config config = shared_config(folder);
  faults::CrashingStorage storage;
  const auto begin = [&](Processes& processes) {
    return processes.leads() ? Session::start({storage, tiny_run, "test", {}, processes}, config)
                             : Session::join(processes);
  };
  run_processes(3, [&](Processes& processes) {
    Session session = begin(processes);
    EXPECT_EQ(session.path(), tiny_run);
    EXPECT_EQ(print_config(session.config()), print_config(config));
    session.require_equal_weights();
    session.trainer().step();
    session.require_equal_weights();
    EXPECT_EQ(session.save().empty(), !processes.leads());
    EXPECT_EQ(session.append("{\"step\":1}"), "");
    Tensor& weights = parameters_of(session.task().model())[0].parameter->value();
    if (processes.rank() == 2) weights.data()[0] += 1;
    EXPECT_THAT(message_of<AgreedError>([&] { session.require_equal_weights(); }),
                HasSubstr("run: step 1: process 2 on "));
  });
  EXPECT_EQ(read_file(storage, tiny_run / "metrics.jsonl"), "{\"step\":1}\n");
}

TEST(SharedSession, GoesOnFromACheckpoint) {
  TemporaryFolder folder;
  const Config config = shared_config(folder);
  faults::CrashingStorage storage;
  start_leg(storage, config, 1, Ending::signal, 5);
  run_processes(2, [&](Processes& processes) {
    std::vector<std::string> notes;
    Session session = processes.leads()
                          ? Session::resume({storage, tiny_run, "", {}, processes}, {}, true, notes)
                          : Session::join(processes);
    EXPECT_EQ(session.state().step, 5u);
    session.trainer().step();
    session.require_equal_weights();
  });
}

/// Moments in parts: checkpoints hold those of one process alone, and any number takes them up.
TEST(SharedSession, SavesMomentsThatAreCut) {
  TemporaryFolder folder;
  Config config = shared_config(folder);
  apply_set(config, "train.partition=true");
  const auto leg = [&](FileStorage& storage, std::size_t count, bool resumes) {
    run_processes(count, [&](Processes& processes) {
      std::vector<std::string> notes;
      Session session =
          !processes.leads() ? Session::join(processes)
          : resumes ? Session::resume({storage, tiny_run, "", {}, processes}, {}, true, notes)
                    : Session::start({storage, tiny_run, "test", {}, processes}, config);
      for (int step = 0; step < 3; ++step) session.trainer().step();
      const auto [here, all] = session.trainer().optimizer_bytes();
      EXPECT_LE(double(here), double(all) * (1.0 / double(count) + 0.05));
      session.save();
      EXPECT_EQ(session.trainer().optimizer_bytes().first, here);
      session.trainer().step();
      session.require_equal_weights();
    });
    RunDirectory run = RunDirectory::read(storage, tiny_run);
    std::vector<std::string> skipped;
    return tensor_bytes(*run.newest_valid(skipped));
  };
  faults::CrashingStorage alone, together;
  EXPECT_EQ(first_difference(leg(alone, 1, false), leg(together, 3, false)), "");
  EXPECT_EQ(first_difference(leg(alone, 1, true), leg(together, 2, true)), "");
}

TEST(SharedSession, NeedsAShardForEachProcess) {
  TemporaryFolder folder;
  const Config config = shared_config(folder);
  faults::CrashingStorage storage;
  run_processes(4, [&](Processes& processes) {
    if (!processes.leads()) return;
    EXPECT_THAT(message_of<ConfigError>([&] {
                  Session::start({storage, tiny_run, "test", {}, processes}, config);
                }),
                HasSubstr("train.shards = 3: has fewer shards than the 4 processes"));
  });
}

}  // namespace shared_session_test
}  // namespace bochner
