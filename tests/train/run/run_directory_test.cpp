#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <bochner/train/storage/storage.hpp>
#include <cstdlib>
#include <random>

#include "faults/crashing_storage.hpp"
#include "faults/sample_run.hpp"

namespace bochner {
namespace run_directory_test {

using faults::CrashingStorage;
using faults::create_sample_run;
using faults::run_path;
using faults::Sample;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using Steps = std::vector<std::uint64_t>;

constexpr Retention keep_all{1000, 0};

template <class Error>
std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// Saves the steps up to `last`, as a run does.
void save_until(RunDirectory& run, std::uint64_t last, const Retention& policy = keep_all) {
  for (std::uint64_t step = faults::stride; step <= last; step += faults::stride) {
    run.metrics().append(faults::metrics_line(step));
    const Sample sample(step);
    run.save(sample.content);
    run.retain(sample.content.state, policy);
  }
}

TEST(RunDirectory, HasTheLayoutOfTheDesign) {
  CrashingStorage storage;
  RunDirectory run = create_sample_run(storage);
  save_until(run, 10);
  EXPECT_THAT(storage.list(run_path),
              ElementsAre("checkpoints", "config.toml", "meta.json", "metrics.jsonl", "run.lock"));
  EXPECT_THAT(storage.list(run_path / "checkpoints"), ElementsAre("step-000000000010.ckpt"));
  EXPECT_EQ(run.config(), Sample(0).content.config);
}

/// Such as a page that plot is writing.
TEST(RunDirectory, LeavesTemporariesOfOthersWhenItIsOpened) {
  CrashingStorage storage;
  create_sample_run(storage);
  const std::string others = in_words("plot.html.", getppid(), ".0", temporary_suffix);
  const std::string own = in_words("meta.json.", getpid(), ".0", temporary_suffix);
  for (const std::string& name : {others, own}) storage.create_exclusive(run_path / name)->close();
  RunDirectory::open(storage, run_path);
  EXPECT_TRUE(storage.exists(run_path / others));
  EXPECT_FALSE(storage.exists(run_path / own));
}

TEST(RunDirectory, WorksOnARealFileSystem) {
  std::string pattern = testing::TempDir() + "bochner-run-XXXXXX";
  const Path directory = mkdtemp(pattern.data());
  PosixStorage storage;
  {
    RunDirectory run = RunDirectory::create(storage, directory / "a/run", "text", "meta");
    save_until(run, 20);
    EXPECT_THAT(error_of<IoError>([&] { RunDirectory::open(storage, directory / "a/run"); }),
                StartsWith((directory / "a/run").string() + ": another process (pid "));
  }
  RunDirectory run = RunDirectory::open(storage, directory / "a/run");
  std::filesystem::remove(directory / "a/run/run.lock");
  const RunDirectory second = RunDirectory::open(storage, directory / "a/run");
  EXPECT_THAT(error_of<InUseError>([&] { run.metrics(); }),
              HasSubstr("a/run: run.lock was removed, so another process may be using this run"));
  EXPECT_THAT(error_of<InUseError>([&] { run.save(Sample(30).content); }), HasSubstr("run.lock"));
  std::vector<std::string> skipped;
  const auto newest = run.newest_valid(skipped);
  ASSERT_TRUE(newest);
  EXPECT_TRUE(faults::is_sample(*newest));
  EXPECT_EQ(newest->state().step, 20u);
  EXPECT_EQ(read_file(storage, directory / "a/run/metrics.jsonl"), faults::metrics_until(20));
  std::filesystem::remove_all(directory);
}

TEST(RunDirectory, MayBeNamedWithASlashAtTheEnd) {
  std::string pattern = testing::TempDir() + "bochner-run-XXXXXX";
  const Path directory = mkdtemp(pattern.data());
  PosixStorage storage;
  {
    RunDirectory run = RunDirectory::create(storage, directory / "a/run/", "text", "meta");
    EXPECT_EQ(run.path(), directory / "a/run");
    save_until(run, 10);
  }
  EXPECT_EQ(RunDirectory::open(storage, directory / "a/run/").path(), directory / "a/run");
  std::filesystem::remove_all(directory);
}

TEST(RunDirectory, IsNotCreatedOverSomethingElse) {
  CrashingStorage storage;
  {
    RunDirectory run = create_sample_run(storage);
    save_until(run, 10);
  }
  EXPECT_EQ(error_of<std::invalid_argument>([&] { create_sample_run(storage); }),
            "runs/sample: already holds a run; continue it with: bochner resume runs/sample, or "
            "choose another directory");
  storage.make_directory("texts");
  storage.create_exclusive("texts/poem.txt");
  EXPECT_EQ(
      error_of<std::invalid_argument>([&] { RunDirectory::create(storage, "texts", "", ""); }),
      "texts: is not empty (poem.txt); choose another directory");
  EXPECT_THAT(storage.list("texts"), ElementsAre("poem.txt"));
  storage.make_directory("mine");
  storage.create_exclusive("mine/config.toml");
  EXPECT_THAT(
      error_of<std::invalid_argument>([&] { RunDirectory::create(storage, "mine", "", ""); }),
      StartsWith("mine: already holds a run"));
  EXPECT_THAT(storage.list("mine"), ElementsAre("config.toml"));
  EXPECT_THAT(
      error_of<std::invalid_argument>([&] { RunDirectory::require_fresh(storage, "mine/"); }),
      StartsWith("mine: already holds a run"));
  EXPECT_NO_THROW(RunDirectory::require_fresh(storage, "none"));
}

/// A run with lines of metrics and no checkpoint.
void fail_early(FileStorage& storage) {
  RunDirectory run = create_sample_run(storage);
  run.metrics().append(faults::metrics_line(5));
  run.metrics().sync();
}

TEST(RunDirectory, IsCreatedOverARunThatEndedBeforeItsFirstCheckpoint) {
  CrashingStorage storage;
  fail_early(storage);
  RunDirectory run = RunDirectory::create(storage, run_path, "new config", "new meta");
  EXPECT_EQ(run.config() + ", " + run.meta(), "new config, new meta");
  EXPECT_EQ(read_file(storage, run_path / "metrics.jsonl"), "");
}

/// After a power loss at any operation: the old run, the new one, or none and room for it.
TEST(RunDirectory, IsNeverHalfOfTheOneItReplaces) {
  bool crashed = true;
  std::size_t replaced = 0;
  for (std::size_t crash_at = 0; crashed; ++crash_at) {
    CrashingStorage storage;
    fail_early(storage);
    storage = storage.settled();
    storage.crash_at = crash_at;
    crashed = false;
    try {
      RunDirectory::create(storage, run_path, "new config", "new meta");
    } catch (const faults::PowerLoss&) {
      crashed = true;
    }
    const std::size_t pending = storage.pending();
    ASSERT_LT(pending, 12u);
    for (std::size_t bits = 0; bits < std::size_t(1) << pending; ++bits) {
      std::vector<bool> survives(pending);
      for (std::size_t i = 0; i < pending; ++i) survives[i] = bits >> i & 1;
      CrashingStorage disk = storage.after_crash(survives, CrashingStorage::never);
      if (disk.exists(run_path / "config.toml")) {
        RunDirectory run = RunDirectory::open(disk, run_path);
        const bool is_new = run.config() == "new config";
        EXPECT_EQ(run.meta(), is_new ? "new meta" : faults::sample_meta) << crash_at;
        EXPECT_EQ(run.metrics().bytes() == 0, is_new) << crash_at;
        replaced += is_new;
      }
      RunDirectory::create(disk, run_path, "later", "later");
    }
  }
  EXPECT_GT(replaced, 0u);
}

TEST(RunDirectory, OpensOnlyRuns) {
  CrashingStorage storage;
  for (const auto& action : {RunDirectory::open, RunDirectory::read}) {
    EXPECT_EQ(error_of<std::invalid_argument>([&] { action(storage, "nowhere"); }),
              "nowhere: not a run (config.toml is missing); give the directory of a run");
  }
}

TEST(RunDirectory, ReadingWritesNothing) {
  CrashingStorage storage;
  RunDirectory run = create_sample_run(storage);
  save_until(run, 20);
  storage.calm();
  RunDirectory reader = RunDirectory::read(storage, run_path);
  std::vector<std::string> skipped;
  EXPECT_EQ(reader.newest_valid(skipped)->state().step, 20u);
  EXPECT_EQ(reader.load_best().state().step, 10u);
  EXPECT_EQ(storage.operations(), 0u);
  EXPECT_THROW(reader.metrics(), std::invalid_argument);
  EXPECT_THROW(reader.save(Sample(30).content), std::invalid_argument);
}

TEST(RunDirectory, StartsWithoutACheckpoint) {
  CrashingStorage storage;
  RunDirectory run = create_sample_run(storage);
  std::vector<std::string> skipped;
  EXPECT_FALSE(run.newest_valid(skipped));
  EXPECT_THAT(skipped, IsEmpty());
  EXPECT_THAT(error_of<DataError>([&] { run.load_best(); }), HasSubstr("no best checkpoint"));
}

TEST(RunDirectory, FindsCheckpointsByStepLastAndBest) {
  CrashingStorage storage;
  RunDirectory run = create_sample_run(storage);
  save_until(run, 30);
  EXPECT_TRUE(faults::is_sample(run.load_step(20)));
  EXPECT_EQ(run.load_best().state().step, 10u);
  EXPECT_EQ(error_of<DataError>([&] { run.load_step(25); }),
            "runs/sample: no checkpoint of step 25; there are steps 10 20 30");
}

TEST(RunDirectory, OrdersStepsAsNumbersAndIgnoresOtherNames) {
  CrashingStorage storage;
  RunDirectory run = create_sample_run(storage);
  for (const char* name : {"step-999999999999.ckpt", "step-1000000000000.ckpt", "step-7.ckpt",
                           "step-000000000003.ckpt.old", "step--00000000001.ckpt", "notes.txt"}) {
    storage.create_exclusive(run_path / "checkpoints" / name);
  }
  EXPECT_EQ(run.list_checkpoints(), (Steps{999999999999, 1000000000000}));
}

TEST(RunDirectory, SavesOnlyWithTheRightMetricsOffset) {
  CrashingStorage storage;
  RunDirectory run = create_sample_run(storage);
  EXPECT_THROW(run.save(Sample(10).content), std::invalid_argument);
}

TEST(RunDirectory, RefusesADiskThatIsFullOrReadOnlyBeforeTheFirstStep) {
  for (const int reason : {ENOSPC, EROFS, EACCES}) {
    CrashingStorage storage;
    storage.fail_at = 0;
    storage.failures = CrashingStorage::never;
    storage.fail_with = reason;
    EXPECT_THAT(error_of<IoError>([&] { create_sample_run(storage); }), StartsWith("runs"));
  }
  CrashingStorage storage;
  RunDirectory run = create_sample_run(storage);
  storage.calm();
  run.preflight(1'000'000);
  EXPECT_GT(storage.operations(), 15u);
  EXPECT_THAT(storage.list(run_path / "checkpoints"), IsEmpty());
}

TEST(Retention, KeepsTheLastTheBestAndTheOneJustWritten) {
  const auto kept = [](const Retention& policy) {
    CrashingStorage storage;
    RunDirectory run = create_sample_run(storage);
    save_until(run, 120, policy);
    return run.list_checkpoints();
  };
  EXPECT_EQ(kept({2, 1}), (Steps{10, 110, 120}));
  EXPECT_EQ(kept({2, 0}), (Steps{110, 120}));
  EXPECT_EQ(kept({0, 0}), (Steps{120}));
  EXPECT_EQ(kept({0, 5}), (Steps{10, 120}));
  EXPECT_EQ(kept({100, 0}).size(), 12u);
}

TEST(Retention, NeitherCountsNorDeletesDamagedFiles) {
  CrashingStorage storage;
  RunDirectory run = create_sample_run(storage);
  save_until(run, 30);
  storage.bytes_of(run.checkpoint_path(30)).resize(100);
  std::vector<std::string> skipped;
  EXPECT_EQ(run.newest_valid(skipped)->state().step, 20u);
  run.retain(Sample(20).content.state, {2, 0});
  EXPECT_EQ(run.list_checkpoints(), (Steps{10, 20, 30}));
  run.retain(Sample(20).content.state, {1, 0});
  EXPECT_EQ(run.list_checkpoints(), (Steps{20, 30}));
}

TEST(NewestValid, FallsBackPastDamagedFilesAndSaysWhy) {
  CrashingStorage storage;
  RunDirectory run = create_sample_run(storage);
  save_until(run, 40);
  storage.bytes_of(run.checkpoint_path(40)).resize(800);
  storage.bytes_of(run.checkpoint_path(30))[300] ^= 4;
  std::vector<std::string> skipped;
  EXPECT_EQ(run.newest_valid(skipped)->state().step, 20u);
  EXPECT_THAT(skipped, ElementsAre(HasSubstr("step-000000000040.ckpt: truncated"),
                                   HasSubstr("step-000000000030.ckpt: damaged")));
  storage.bytes_of(run.checkpoint_path(20)).clear();
  storage.bytes_of(run.checkpoint_path(10)).clear();
  EXPECT_THAT(error_of<DataError>([&] { run.newest_valid(skipped); }),
              HasSubstr("none of 4 checkpoints is intact"));
}

/// While the checkpoints that were listed are read, a trainer saves a newer one and removes them.
TEST(NewestValid, LooksAgainWhereATrainerRemovedWhatWasListed) {
  struct Rotating : CrashingStorage {
    std::function<void()> rotate;
    std::unique_ptr<StoredFile> open_read(const Path& path) override {
      if (rotate) std::exchange(rotate, nullptr)();
      return CrashingStorage::open_read(path);
    }
  } storage;
  RunDirectory run = create_sample_run(storage);
  save_until(run, 20);
  storage.rotate = [&] {
    run.metrics().append(faults::metrics_line(30));
    run.save(Sample(30).content);
    for (const std::uint64_t step : {10, 20}) storage.unlink(run.checkpoint_path(step));
  };
  std::vector<std::string> skipped;
  EXPECT_EQ(RunDirectory::read(storage, run_path).newest_valid(skipped)->state().step, 30u);
  EXPECT_THAT(skipped, IsEmpty());
}

TEST(NewestValid, SkipsAFileUnderTheNameOfAnotherStep) {
  CrashingStorage storage;
  RunDirectory run = create_sample_run(storage);
  save_until(run, 20);
  storage.rename(run.checkpoint_path(10), run.checkpoint_path(50));
  std::vector<std::string> skipped;
  EXPECT_EQ(run.newest_valid(skipped)->state().step, 20u);
  EXPECT_THAT(skipped, ElementsAre(HasSubstr("holds step 10, not the step of its name")));
}

TEST(NewestValid, TenThousandBitFlipsFallBackToThePreviousCheckpoint) {
  CrashingStorage storage;
  RunDirectory run = create_sample_run(storage);
  save_until(run, 20);
  std::string& bytes = storage.bytes_of(run.checkpoint_path(20));
  std::mt19937_64 random(17);
  for (int round = 0; round < 10000; ++round) {
    const std::size_t bit = random() % (8 * bytes.size());
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    std::vector<std::string> skipped;
    ASSERT_EQ(run.newest_valid(skipped)->state().step, 10u) << "seed 17, bit " << bit;
    ASSERT_EQ(skipped.size(), 1u);
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
  }
}

TEST(NewestValid, EveryTruncationFallsBackToThePreviousCheckpoint) {
  CrashingStorage storage;
  RunDirectory run = create_sample_run(storage);
  save_until(run, 20);
  std::string& bytes = storage.bytes_of(run.checkpoint_path(20));
  while (!bytes.empty()) {
    bytes.pop_back();
    std::vector<std::string> skipped;
    ASSERT_EQ(run.newest_valid(skipped)->state().step, 10u) << bytes.size();
  }
}

TEST(Metrics, AreCutBackToTheCheckpoint) {
  CrashingStorage storage;
  {
    RunDirectory run = create_sample_run(storage);
    save_until(run, 20);
    run.metrics().append("later");
  }
  RunDirectory run = RunDirectory::open(storage, run_path);
  run.metrics().rewind(Sample(20).content.state.metrics_bytes);
  EXPECT_EQ(read_file(storage, run_path / "metrics.jsonl"), faults::metrics_until(20));
  EXPECT_EQ(error_of<DataError>([&] { run.metrics().rewind(1000); }),
            "runs/sample/metrics.jsonl: has 26 bytes, the checkpoint was written after 1000; put "
            "the file back, or fork a new run from the checkpoint");
}

TEST(Metrics, ALineThatDidNotFitWaits) {
  CrashingStorage storage;
  MetricsFile metrics(storage, "metrics.jsonl");
  metrics.append("first");
  storage.fail_at = storage.operations();
  metrics.append("a line on a full disk");
  EXPECT_THAT(metrics.problem(), HasSubstr("No space left on device"));
  EXPECT_EQ(metrics.bytes(), 6u);
  EXPECT_EQ(metrics.waiting(), "a line on a full disk\n");
  metrics.append("second");
  EXPECT_EQ(metrics.problem(), "");
  EXPECT_EQ(read_file(storage, "metrics.jsonl"), "first\na line on a full disk\nsecond\n");
  EXPECT_EQ(metrics.digests().size(), 3u);
}

TEST(Metrics, SurviveASyncThatFailed) {
  CrashingStorage storage;
  MetricsFile metrics(storage, "metrics.jsonl");
  metrics.append("line");
  storage.fail_at = storage.operations();
  EXPECT_THROW(metrics.sync(), IoError);
  metrics.sync();
  CrashingStorage disk = storage.after_crash(std::vector<bool>(storage.pending()), 0);
  EXPECT_EQ(read_file(disk, "metrics.jsonl"), "line\n");
}

}  // namespace run_directory_test
}  // namespace bochner
