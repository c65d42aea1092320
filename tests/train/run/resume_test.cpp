#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/train/storage/storage.hpp>
#include <random>
#include <regex>

#include "faults/crashing_storage.hpp"
#include "train/run/resume_recipes.hpp"
#include "train/training_run.hpp"

namespace bochner {
namespace resume_test {

using faults::CrashingStorage;
using testing::HasSubstr;
using testing::StartsWith;

class Resume : public testing::TestWithParam<Recipe> {
 protected:
  TemporaryFolder folder;
  Config config = tiny_config(folder.write("text", tiny_text()), GetParam().sets);
  Remains uninterrupted = [this] {
    CrashingStorage storage;
    start_leg(storage, config, 2);
    return remains_of(storage);
  }();

  std::uint64_t last_step() const { return uninterrupted.state.step; }

  /// The remains of a run whose legs end after these steps.
  Remains in_legs(const std::vector<std::uint64_t>& ends, Ending ending, std::size_t threads) {
    CrashingStorage storage;
    start_leg(storage, config, threads, ending, ends.front());
    for (std::size_t leg = 1; leg < ends.size(); ++leg) {
      resume_leg(storage, threads_of(threads + leg), ending, ends[leg]);
    }
    resume_leg(storage, threads_of(threads + ends.size()));
    return remains_of(storage);
  }
  static std::size_t threads_of(std::size_t number) { return 1 + number % 4; }
};

TEST_P(Resume, GivesEqualBitsAfterAStopAtEveryStep) {
  for (std::uint64_t step = 1; step < last_step(); ++step) {
    ASSERT_EQ(difference(in_legs({step}, Ending::signal, threads_of(step)), uninterrupted), "")
        << "stopped after step " << step;
  }
}

TEST_P(Resume, GivesEqualBitsAfterAKillAtEveryStep) {
  for (std::uint64_t step = 1; step <= last_step(); ++step) {
    ASSERT_EQ(difference(in_legs({step}, Ending::kill, threads_of(step)), uninterrupted), "")
        << "killed in step " << step;
  }
}

TEST_P(Resume, GivesEqualBitsAfterChainsOfThree) {
  std::mt19937_64 random(5);
  for (int chain = 0; chain < 8; ++chain) {
    std::vector<std::uint64_t> ends;
    while (ends.size() < 3) {
      const std::uint64_t step = 1 + random() % (last_step() - 1);
      if (std::find(ends.begin(), ends.end(), step) == ends.end()) ends.push_back(step);
    }
    std::sort(ends.begin(), ends.end());
    ASSERT_EQ(difference(in_legs(ends, Ending::signal, threads_of(chain)), uninterrupted), "")
        << "seed 5, stopped after steps " << ends[0] << ", " << ends[1] << " and " << ends[2];
  }
}

TEST_P(Resume, OfARunThatIsDoneChangesNothing) {
  CrashingStorage storage;
  start_leg(storage, config, 1);
  resume_leg(storage, 2);
  EXPECT_EQ(difference(remains_of(storage), uninterrupted), "");
  EXPECT_EQ(last_step(), GetParam().last_step);
}

INSTANTIATE_TEST_SUITE_P(Recipes, Resume, testing::ValuesIn(recipes),
                         [](const auto& recipe) { return std::string(recipe.param.name); });

/// The tensors and the state of a checkpoint, to be changed.
struct Copy {
  std::map<std::string, Tensor> tensors;
  TrainerState state;

  void zero(const std::string& prefix) {
    for (auto& [name, tensor] : tensors) {
      if (name.starts_with(prefix)) tensor.fill(0);
    }
  }
  void replace_averages() {
    for (auto& [name, tensor] : tensors) {
      if (name.starts_with("ema/")) tensor = tensors.at("model/" + name.substr(4));
    }
  }
};

struct Bug {
  const char* name;
  std::function<void(Copy&)> change;
  const char* noticed;
  friend void PrintTo(const Bug& bug, std::ostream* out) { *out << bug.name; }
};

const Bug bugs[] = {
    {"NoAverages", [](Copy& copy) { copy.replace_averages(); }, "ema/"},
    {"NoMoments", [](Copy& copy) { copy.zero("optimizer/"); }, ""},
    {"NoBuffers", [](Copy& copy) { copy.zero("buffer/"); }, "buffer/"},
    {"OneExampleTooFar", [](Copy& copy) { ++copy.state.examples; }, ""},
    {"OneStepTooFar", [](Copy& copy) { ++copy.state.optimizer_steps; }, ""},
    {"OneAverageTooFar", [](Copy& copy) { ++copy.state.ema_steps; }, ""},
    {"NoLossSum", [](Copy& copy) { copy.state.loss_sum = 0; }, "metrics"},
    {"NoLossCount", [](Copy& copy) { copy.state.loss_count = 1; }, "metrics"},
    {"ValidationForgotten", [](Copy& copy) { copy.state.validated_step = 0; }, "metrics"},
    {"BestForgotten", [](Copy& copy) { copy.state.best.clear(); }, "state"},
};

class ResumeControl : public testing::TestWithParam<Bug> {};

/// The comparison of the tests above notices what a resume could forget.
TEST_P(ResumeControl, IsNoticed) {
  TemporaryFolder folder;
  const Config config =
      tiny_config(folder.write("text", tiny_text()),
                  {"model.mixer.kind=linear", "optim.kind=adamw", "optim.ema=0.9",
                   "train.log.every=7", "train.validate.every=20", "train.checkpoint.every=20",
                   "train.checkpoint.keep_best=3", "optim.lr=0.01"});
  CrashingStorage whole, changed;
  start_leg(whole, config, 1);
  // Killed after the checkpoint of step 20, which has the best validation so far and half a log.
  start_leg(changed, config, 1, Ending::kill, 23);
  {
    RunDirectory run = RunDirectory::open(changed, tiny_run);
    const CheckpointReader before = run.load_step(20);
    Copy copy{{}, before.state()};
    for (const StoredTensor& stored : before.tensors())
      copy.tensors[stored.name] = before.load(stored.name);
    GetParam().change(copy);
    CheckpointContent content{before.config(), {}, copy.state};
    for (const StoredTensor& stored : before.tensors()) {
      content.tensors.push_back({stored.name, stored.shape, copy.tensors.at(stored.name).data()});
    }
    commit_file(changed, run.checkpoint_path(20),
                [&](StoredFile& file) { write_checkpoint(file, content); });
  }
  resume_leg(changed, 1);
  const std::string found = difference(remains_of(changed), remains_of(whole));
  EXPECT_NE(found, "");
  EXPECT_THAT(found, HasSubstr(GetParam().noticed));
}

INSTANTIATE_TEST_SUITE_P(Bugs, ResumeControl, testing::ValuesIn(bugs),
                         [](const auto& bug) { return std::string(bug.param.name); });

struct ResumedRun : testing::Test {
  TemporaryFolder folder;
  CrashingStorage storage;
  std::vector<std::string> notes;
  Config config(const std::vector<std::string>& sets = {}) {
    return tiny_config(folder.write("text", tiny_text()), sets);
  }
};

TEST_F(ResumedRun, KeepsTheChangesOfAnEarlierResume) {
  start_leg(storage, config({"train.steps=10"}), 1);
  { Session::resume({storage, tiny_run}, {"train.steps=20"}, true, notes); }
  resume_leg(storage, 1);
  EXPECT_EQ(remains_of(storage).state.step, 20u);
}

TEST_F(ResumedRun, TakesTheChangeOfAKeyOfTheModelThatMayChange) {
  start_leg(storage, config(), 1, Ending::signal, 5);
  Session session = Session::resume({storage, tiny_run}, {"model.checkpoint=true"}, true, notes);
  EXPECT_TRUE(session.config().flag("model.checkpoint"));
  run_leg(session, 1);
  CrashingStorage whole;
  start_leg(whole, config(), 1);
  EXPECT_EQ(difference(remains_of(storage), remains_of(whole)), "");
}

TEST_F(ResumedRun, RefusesOtherData) {
  start_leg(storage, config(), 1, Ending::signal, 5);
  folder.write("text", tiny_text() + "more");
  EXPECT_THAT(message_of<DataError>([&] {
                Session::resume({storage, tiny_run}, {}, true, notes);
              }),
              StartsWith("run: the files of data.files have changed since the run began"));
}

TEST_F(ResumedRun, FindsItsDataWhereTheyAreNow) {
  CrashingStorage whole;
  start_leg(whole, config(), 1);
  start_leg(storage, config(), 1, Ending::signal, 5);
  const auto files = [&](const char* name, const std::string& text) {
    return "data.files=['" + folder.write(name, text).string() + "']";
  };
  folder.write("text", "other words");
  { Session::resume({storage, tiny_run}, {files("moved", tiny_text())}, true, notes); }
  resume_leg(storage, 1);
  EXPECT_EQ(difference(remains_of(storage), remains_of(whole)), "");
  const std::string other = files("other", tiny_text() + "more");
  EXPECT_THAT(message_of<DataError>([&] {
                Session::resume({storage, tiny_run}, {other}, true, notes);
              }),
              StartsWith("run: the files of data.files have changed since the run began"));
}

TEST_F(ResumedRun, OfAForkWithoutStepsLeftIsNotMade) {
  start_leg(storage, config({"train.steps=20"}), 1);
  const auto fork = [&](const ForkResets& resets) {
    return Session::fork({storage, "forked", "test"}, {tiny_run, ""}, config({"train.steps=20"}),
                         resets, notes);
  };
  EXPECT_EQ(message_of<ConfigError>([&] { fork({}); }),
            "run/checkpoints/step-000000000020.ckpt: is at step 20 and train.steps is 20, "
            "so no steps remain; set a larger train.steps, or count from 0 again: "
            "--reset schedule");
  EXPECT_FALSE(storage.exists("forked"));
  EXPECT_EQ(fork({.schedule = true}).state().step, 0u);
}

TEST_F(ResumedRun, OfAForkHasNoMomentsInOtherUnits) {
  start_leg(storage, config({"model.mixer.kind=linear"}), 1, Ending::signal, 30);
  const auto fork = [&](const std::string& natural, const ForkResets& resets) {
    return Session::fork({storage, "forked", "test"}, {tiny_run, ""},
                         config({"model.mixer.kind=linear", "optim.density_natural=" + natural}),
                         resets, notes);
  };
  EXPECT_EQ(message_of<ConfigError>([&] { fork("true", {}); }),
            "run/checkpoints/step-000000000030.ckpt: has moments of optim.density_natural = "
            "false, which have other units with true; reset them: --reset optimizer");
  EXPECT_FALSE(storage.exists("forked"));
  EXPECT_EQ(fork("true", {.optimizer = true}).state().step, 30u);
}

TEST_F(ResumedRun, OfAForkGoesOnFromItsParent) {
  start_leg(storage, config(), 1, Ending::signal, 30);
  const RunReference parent{tiny_run, ""};
  { Session::fork({storage, "forked", "test"}, parent, config({"optim.lr=0.1"}), {}, notes); }
  Session session = Session::resume({storage, "forked"}, {}, true, notes);
  EXPECT_EQ(session.state().step, 30u);
  RunDirectory run = RunDirectory::read(storage, tiny_run);
  const auto before = run.load_step(30).load("model/embedding.weight");
  EXPECT_EQ(session.run().load_step(30).load("model/embedding.weight"), before);
}

TEST_F(ResumedRun, OfAForkThatHasNotTakenOverItsParentIsRefused) {
  start_leg(storage, config(), 1, Ending::signal, 30);
  { Session::fork({storage, "forked", "test"}, {tiny_run, ""}, config(), {}, notes); }
  storage.unlink("forked/checkpoints/step-000000000030.ckpt");
  EXPECT_EQ(message_of<DataError>([&] {
              Session::resume({storage, "forked"}, {}, true, notes);
            }),
            "forked: was to start from the weights of run/checkpoints/step-000000000030.ckpt but "
            "ended before its first checkpoint; fork or import them again");
  Session::fork({storage, "forked", "test"}, {tiny_run, ""}, config(), {}, notes);
  EXPECT_EQ(Session::resume({storage, "forked"}, {}, true, notes).state().step, 30u);
}

TEST_F(ResumedRun, GoesOnAfterAFullDisk) {
  const auto recipe =
      config({"train.checkpoint.every=10", "train.log.every=0", "train.validate.every=0"});
  CrashingStorage whole;
  start_leg(whole, recipe, 1);
  Session session = Session::start({storage, tiny_run, "test"}, recipe);
  set_thread_count(1);
  SignalGuard signals;
  Progress progress(ProgressMode::none, 50, 16, 0);
  storage.calm();
  storage.fail_at = 0;
  storage.failures = 3;
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_loop(session, progress, signals), StopReason::finished);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("could not save step 10: "));
  EXPECT_EQ(difference(remains_of(storage), remains_of(whole)), "");
}

/// An average that began anew would be the weights of a few steps.
TEST_F(ResumedRun, OfAForkCountsOnWhatIsNotReset) {
  const auto averaged = config({"optim.ema=0.99"});
  start_leg(storage, averaged, 1, Ending::signal, 30);
  const auto state = [&](const ForkResets& resets, const char* name) {
    return Session::fork({storage, name, "test"}, {tiny_run, ""}, averaged, resets, notes).state();
  };
  EXPECT_EQ(state({}, "forked").ema_steps, 30u);
  EXPECT_EQ(state({}, "again").optimizer_steps, 30u);
  EXPECT_EQ(state({.ema = true}, "anew").ema_steps, 0u);
  EXPECT_EQ(state({.optimizer = true}, "unmoved").optimizer_steps, 0u);
}

/// A step may belong to two of them.
TEST_F(ResumedRun, TakesAllOfItsEpochs) {
  const auto recipe = config({"train.steps=3e", "train.batch=7", "train.accumulate=4"});
  Session session = Session::start({storage, tiny_run, "test"}, recipe);
  const std::uint64_t n = session.task().data().examples(Split::train);
  ASSERT_EQ(n / 28, 1u) << "of nearly two";
  EXPECT_GE(session.total_steps() * 28, 3 * n);
  EXPECT_LT((session.total_steps() - 1) * 28, 3 * n);
}

/// Those that were seen, however large the batches were.
TEST_F(ResumedRun, OfAForkCountsTheTokensOfItsParent) {
  start_leg(storage, config(), 1, Ending::signal, 30);
  const auto tokens = [&](const ForkResets& resets, const char* name) {
    return Session::fork({storage, name, "test"}, {tiny_run, ""}, config({"train.batch=8"}), resets,
                         notes)
        .state()
        .tokens;
  };
  EXPECT_EQ(tokens({}, "forked"), 30u * 2 * 8);
  EXPECT_EQ(tokens({.schedule = true}, "anew"), 0u);
}

TEST_F(ResumedRun, OfAForkToAnotherOptimizerSaysSoOnce) {
  start_leg(storage, config(), 1, Ending::signal, 30);
  Session::fork({storage, "forked", "test"}, {tiny_run, ""}, config({"optim.kind=sgd"}), {}, notes);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_TRUE(std::regex_match(
      notes[0], std::regex("starts from scratch: ([0-9]+) of \\1 tensors of the optimizer")))
      << notes[0];
}

}  // namespace resume_test
}  // namespace bochner
