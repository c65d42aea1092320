#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/train/distributed/sharded_gradients.hpp>
#include <bochner/train/tasks/stack_checks.hpp>
#include <cmath>
#include <fstream>
#include <system_error>

#include "data/messages.hpp"
#include "train/thread_processes.hpp"
#include "train/training_run.hpp"

namespace bochner {
namespace shards_test {

using testing::HasSubstr;

/// A task of each kind of model, and all that a step can have.
struct Kind {
  const char* name;
  std::vector<std::string> sets;
  const char* file = "text";
  friend void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }
};

const Kind kinds[] = {
    {"LinearAccumulate", {"model.mixer.kind=linear", "train.accumulate=2", "optim.ema=0.5"}},
    {"SoftmaxRecomputed", {"model.mixer.kind=softmax", "model.checkpoint=true", "model.norm=rms"}},
    {"BatchNorm",
     {"model.kind=classifier", "data.kind=shapes", "data.side=12", "model.norm=batch",
      "model.blocks=2", "train.accumulate=2", "data.validation_examples=7"}},
    {"BatchNormRecomputed",
     {"model.kind=classifier", "data.kind=shapes", "data.side=12", "model.norm=batch",
      "model.checkpoint=true", "data.validation_examples=7"}},
    {"Forecaster",
     {"model.kind=forecaster", "model.backbone=attention", "data.kind=series",
      "data.splits=[40,20,0]", "data.lookback=8", "data.horizon=4", "model.patch.length=4",
      "model.patch.stride=2"},
     "series.csv"},
    {"Events",
     {"model.kind=events", "data.kind=hawkes", "data.length=12", "data.validation_examples=5"}},
    {"Field",
     {"model.kind=field", "data.kind=advection_diffusion", "data.frames=3", "data.height=6",
      "data.width=4", "data.validation_examples=5", "model.encoding.space=4",
      "model.encoding.time=2"}},
    {"Latent",
     {"model.kind=vae", "data.kind=shapes", "data.side=12", "model.patch.pixels=3",
      "model.vae.latent=3", "model.vae.warmup=9", "model.vae.binarise=drawn",
      "model.vae.discrete.categories=2", "data.validation_examples=5", "train.accumulate=2"}},
    {"Process",
     {"model.kind=gp", "data.kind=table", "data.inputs=['a']", "data.target=b", "data.rows=12"},
     "series.csv"},
};

class Shards : public testing::TestWithParam<Kind> {
 protected:
  Shards() {
    folder_.write("text", tiny_text());
    std::string rows = "a,b\n";
    for (int i = 0; i < 80; ++i)
      rows += fmt::format("{:.3f},{:.3f}\n", 0.1 * i + 0.01 * (i % 3), std::sin(0.3 * i) + 3);
    folder_.write("series.csv", rows);
  }

  Config config(std::vector<std::string> more = {}) const {
    std::vector<std::string> sets = GetParam().sets;
    sets.insert(sets.end(), {"train.batch=8", "optim.schedule.warmup=0"});
    sets.insert(sets.end(), more.begin(), more.end());
    return tiny_config(folder_.path() / GetParam().file, sets);
  }

  TemporaryFolder folder_;
};

/// All bits that some steps with a validation leave.
struct Outcome {
  std::vector<double> numbers;
  std::uint64_t digest = 0;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome outcome_of(const Config& config, Processes& processes) {
  const auto task = make_task(config);
  Trainer trainer(config, *task, run_steps, processes);
  Outcome outcome;
  for (int step = 0; step < 4; ++step) {
    const StepResult result = trainer.step();
    outcome.numbers.insert(outcome.numbers.end(), {result.loss, result.gradient_norm});
  }
  outcome.numbers.push_back(trainer.validate()->loss());
  outcome.digest = trainer.digest();
  return outcome;
}

Outcome alone(const Config& config, std::size_t threads = 1) {
  set_thread_count(threads);
  const Outcome outcome = outcome_of(config, Processes::alone());
  set_thread_count(0);
  return outcome;
}

TEST_P(Shards, HaveEqualBitsForAnyNumberOfProcessesAndThreads) {
  std::vector<std::string> sets{"train.shards=4"};
  if (has_stack(this->config())) sets.push_back("model.dropout=0.1");
  const Config config = this->config(sets);
  const Outcome expected = alone(config);
  EXPECT_EQ(alone(config, 2), expected);
  set_thread_count(1);
  for (const std::size_t count : {2, 3, 4}) {
    std::vector<Outcome> outcomes(count);
    run_processes(count, [&](Processes& processes) {
      outcomes[processes.rank()] = outcome_of(config, processes);
    });
    for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome, expected) << count << " processes";
  }
  set_thread_count(0);
}

/// Up to rounding, the mean over shards of equal size is the mean over the batch, also where its
/// examples are normalised together.
TEST_P(Shards, AddUpToTheWholeBatch) {
  const auto step = [&](const char* shards) {
    const Config config = this->config({shards, "train.overfit=true", "optim.kind=sgd"});
    const auto task = make_task(config);
    Trainer trainer(config, *task, run_steps);
    const StepResult first = trainer.step(), second = trainer.step();
    return std::vector<double>{first.loss, first.gradient_norm, second.loss,
                               trainer.validate()->loss()};
  };
  const std::vector<double> whole = step("train.shards=1");
  for (const char* shards : {"train.shards=2", "train.shards=8"}) {
    const std::vector<double> parts = step(shards);
    for (std::size_t i = 0; i < whole.size(); ++i)
      EXPECT_NEAR(parts[i], whole[i], 2e-4 * std::abs(whole[i])) << shards << ", number " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Shards, testing::ValuesIn(kinds),
                         [](const auto& kind) { return std::string(kind.param.name); });

/// Where all examples are alike, only their dropout tells shards apart.
TEST(ShardedSteps, DrawOtherNumbersForTheExamplesOfEachShard) {
  Parameter weight({4});
  ShardedGradients gradients({{"weight", &weight}}, 3, false, Processes::alone());
  std::vector<Tensor> masks;
  const auto pass = [&](std::size_t, const PassOptions& options) {
    Tape tape(options);
    tape.training = true;
    masks.push_back(dropout(tape, tape.input(filled({1000}, real(1))), real(0.5)).value());
    return 1.0;
  };
  EXPECT_EQ(gradients.of(pass, nullptr).loss, 3);
  EXPECT_NE(masks[0], masks[1]);
  EXPECT_NE(masks[1], masks[2]);
  ShardedGradients whole({{"weight", &weight}}, 1, false, Processes::alone());
  whole.of(pass, nullptr);
  EXPECT_EQ(masks[3], masks[0]);
}

/// A parameter that no shard needed is left alone by the optimizer; one that some needed is not.
TEST(ShardedSteps, JoinGradientsOfThoseThatHaveThem) {
  for (const std::size_t count : {1, 2, 3})
    run_processes(count, [](Processes& processes) {
      Parameter both({2}), one({3}), none({4});
      ShardedGradients gradients({{"both", &both}, {"one", &one}, {"none", &none}}, 3, false,
                                 processes);
      gradients.of(
          [&](std::size_t shard, const PassOptions& options) {
            Tape tape(options);
            Var loss = sum(tape(both)) * real(shard + 1);
            if (shard == 1) loss = loss + sum(tape(one));
            tape.backward(loss);
            return 0.0;
          },
          nullptr);
      EXPECT_EQ(both.gradient(), filled({2}, real(6)));
      EXPECT_EQ(one.gradient(), filled({3}, real(1)));
      EXPECT_FALSE(none.has_gradient());
    });
}

TEST(ShardedSteps, AreRefusedWhereTheyCannotBe) {
  const auto error = [](const std::vector<std::string>& sets) {
    return message_of<ConfigError>([&] { tiny_config("unused", sets); });
  };
  EXPECT_THAT(error({"train.batch=6", "train.shards=4"}),
              HasSubstr("train.shards = 4: must divide train.batch = 6"));
  EXPECT_THAT(error({"model.kind=gp", "data.kind=table", "train.batch=1", "train.shards=2"}),
              HasSubstr("train.shards = 2: must be 1 for a gp that sees all rows at once"));
}

/// In processes of their own and in one: the op is named, and nothing has changed.
TEST(ShardedSteps, ThatAreNotFiniteEndAllProcessesAlike) {
  TemporaryFolder folder;
  const Config config = tiny_config(
      folder.write("text", tiny_text()),
      {"optim.lr=1e30", "optim.clip=0", "train.batch=4", "train.shards=4", "train.accumulate=2"});
  std::vector<std::string> told;
  for (const std::size_t count : {1, 3}) {
    std::vector<std::string> messages(count);
    run_processes(count, [&](Processes& processes) {
      const auto task = make_task(config);
      Trainer trainer(config, *task, run_steps, processes);
      trainer.step();
      const std::uint64_t before = trainer.digest();
      messages[processes.rank()] = message_of<DivergedError>([&] { trainer.step(); });
      EXPECT_EQ(trainer.digest(), before);
      EXPECT_EQ(trainer.state().step, 1u);
    });
    told.insert(told.end(), messages.begin(), messages.end());
  }
  EXPECT_THAT(told[0], testing::AllOf(HasSubstr("step 2: the loss"), HasSubstr("of op ")));
  for (const std::string& message : told) EXPECT_EQ(message, told[0]);
}

TEST(ShardedSteps, StopAValidationWhereverItIsAsked) {
  TemporaryFolder folder;
  const Config config = tiny_config(folder.write("text", tiny_text()),
                                    {"train.batch=2", "train.shards=2", "data.validation=0.5"});
  run_processes(2, [&](Processes& processes) {
    const auto task = make_task(config);
    Trainer trainer(config, *task, run_steps, processes);
    EXPECT_TRUE(trainer.validate());
    EXPECT_FALSE(trainer.validate([&] { return processes.rank() == 1; }));
  });
}

/// What one shard throws ends the others that wait for it.
TEST(ShardTurns, EndTogether) {
  ShardTurns turns(Processes::alone(), 4, [](std::size_t) {});
  std::vector<double> seen(4);
  turns.run([&](std::size_t shard) {
    std::vector<double> sums = {double(shard), 1};
    turns.all_reduce(sums);
    turns.all_reduce(sums);
    seen[shard] = sums[0];
  });
  EXPECT_EQ(seen, std::vector<double>(4, 24));
  ShardTurns broken(Processes::alone(), 4, [](std::size_t) {});
  int reached = 0;
  const auto body = [&](std::size_t shard) {
    double sum = 1;
    broken.all_reduce({&sum, 1});
    if (shard == 2) throw std::runtime_error("in shard 2");
    broken.all_reduce({&sum, 1});
    ++reached;
  };
  EXPECT_EQ(message_of<std::runtime_error>([&] { broken.run(body); }), "in shard 2");
  EXPECT_EQ(reached, 0);
  for (std::size_t asking = 0; asking < 3; ++asking) {
    ShardTurns uneven(Processes::alone(), 3, [](std::size_t) {});
    const auto one_asks = [&](std::size_t shard) {
      double sum = 1;
      if (shard == asking) uneven.all_reduce({&sum, 1});
    };
    EXPECT_THAT(message_of<std::logic_error>([&] { uneven.run(one_asks); }),
                HasSubstr("different places"))
        << asking;
  }
}

/// An error and no end of waiting where the system gives no more threads.
TEST(ShardTurnsDeathTest, EndWhereNoThreadCanBeStarted) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer needs terabytes of addresses";
#endif
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto run_within_limits = [] {
    alarm(60);
    std::size_t pages = 0, stack = 0;
    std::ifstream("/proc/self/statm") >> pages;
    pthread_attr_t defaults;
    pthread_getattr_default_np(&defaults);
    pthread_attr_getstacksize(&defaults, &stack);
    const rlimit for_some{pages * std::size_t(getpagesize()) + 5 * stack / 2, RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &for_some);
    ShardTurns turns(Processes::alone(), 16, [](std::size_t) {});
    try {
      turns.run([](std::size_t) {});
    } catch (const std::system_error&) {
      _exit(7);
    }
    _exit(8);
  };
  EXPECT_EXIT(run_within_limits(), testing::ExitedWithCode(7), "");
}

/// A signal that each process is sent on its own must not count as a second one.
TEST(SignalGuard, AdoptsWhatCameToAnotherProcess) {
  SignalGuard guard;
  guard.adopt_stop(0);
  EXPECT_FALSE(guard.stop_requested());
  guard.adopt_stop(SIGTERM);
  EXPECT_TRUE(guard.stop_requested());
  EXPECT_EQ(guard.stop_name(), "SIGTERM");
  std::raise(SIGINT);
  EXPECT_EQ(guard.stop_name(), "SIGINT");
}

TEST(ShardedEvaluation, NeedsDataAsAnyOther) {
  const Config config = tiny_config("unused", {"data.kind=copy", "data.validation_examples=0",
                                               "train.shards=2", "data.length=9"});
  const auto task = make_task(config);
  Trainer trainer(config, *task, run_steps);
  EXPECT_THAT(message_of<std::invalid_argument>([&] { trainer.validate(); }),
              HasSubstr("keeps no validation data"));
}

}  // namespace shards_test
}  // namespace bochner
