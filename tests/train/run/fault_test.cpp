#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bochner/train/storage/storage.hpp>
#include <csignal>
#include <cstdlib>
#include <random>

#include "faults/crashing_storage.hpp"
#include "faults/sample_run.hpp"

namespace bochner {
namespace fault_test {

using faults::CrashingStorage;
using faults::create_sample_run;
using faults::PowerLoss;
using faults::run_path;
using faults::Sample;
using testing::HasSubstr;

/// What a run told the world, kept outside of its disk.
struct Oracle {
  bool created = false;
  std::uint64_t acknowledged = 0;
};

constexpr Retention policy{1, 1};

void save_correctly(FileStorage&, RunDirectory& run, const Sample& sample, Oracle& oracle) {
  run.save(sample.content);
  oracle.acknowledged = sample.content.state.step;
  run.retain(sample.content.state, policy);
}

using Save = void (*)(FileStorage&, RunDirectory&, const Sample&, Oracle&);

void log_and_save(FileStorage& storage, RunDirectory& run, std::uint64_t step, Oracle& oracle,
                  Save save) {
  run.metrics().append(faults::metrics_line(step));
  // A session would save it with the lines that wait; the samples here have none.
  run.metrics().flush();
  if (!run.metrics().waiting().empty()) throw IoError(run.metrics().problem());
  save(storage, run, Sample(step), oracle);
}

/// Creation, first save, a normal save, saves that rotate, and the same after a resume.
void live(CrashingStorage& storage, Oracle& oracle, Save save) {
  {
    RunDirectory run = create_sample_run(storage);
    oracle.created = true;
    for (const std::uint64_t step : {10, 20, 30}) log_and_save(storage, run, step, oracle, save);
    run.metrics().append("a line that no checkpoint knows");
  }
  RunDirectory run = RunDirectory::open(storage, run_path);
  std::vector<std::string> skipped;
  run.metrics().rewind(run.newest_valid(skipped)->state().metrics_bytes);
  log_and_save(storage, run, 40, oracle, save);
}

bool has_temporaries(FileStorage& storage) {
  for (const Path& directory : {run_path, run_path / "checkpoints"}) {
    for (const std::string& name : storage.list(directory)) {
      if (is_temporary_name(name)) return true;
    }
  }
  return false;
}

/// Restarts on this disk. Returns what is wrong, "" when every promise holds.
std::string problem_on(FileStorage& disk, const Oracle& oracle) try {
  if (!oracle.created && !disk.exists(run_path / "config.toml")) {
    create_sample_run(disk);
    return "";
  }
  RunDirectory run = RunDirectory::open(disk, run_path);
  if (has_temporaries(disk)) return "a temporary file stays";
  std::vector<std::string> skipped;
  const auto newest = run.newest_valid(skipped);
  if (!skipped.empty()) return "a published file is damaged: " + skipped.front();
  const std::uint64_t step = newest ? newest->state().step : 0;
  if (step < oracle.acknowledged) return "an acknowledged checkpoint is lost";
  if (newest && !faults::is_sample(*newest)) return "wrong bits";
  if (newest && !faults::is_sample(run.load_best())) return "the best checkpoint has wrong bits";
  run.metrics().rewind(newest ? newest->state().metrics_bytes : 0);
  if (read_file(disk, run_path / "metrics.jsonl") != faults::metrics_until(step)) {
    return "the metrics differ";
  }
  Oracle later;
  log_and_save(disk, run, step + faults::stride, later, save_correctly);
  return run.load_step(later.acknowledged).state().step == later.acknowledged ? "" : "no next save";
} catch (const std::exception& error) {
  return error.what();
}

/// Calls with every subset of `count` effects, or when those are too many with the subsets that
/// lose or keep at most two.
void for_each_subset(std::size_t count,
                     const std::function<void(const std::vector<bool>&)>& visit) {
  if (count <= 9) {
    for (std::size_t bits = 0; bits < std::size_t(1) << count; ++bits) {
      std::vector<bool> survives(count);
      for (std::size_t i = 0; i < count; ++i) survives[i] = bits >> i & 1;
      visit(survives);
    }
    return;
  }
  for (const bool usual : {false, true}) {
    for (std::size_t first = 0; first < count; ++first) {
      for (std::size_t second = first; second < count; ++second) {
        std::vector<bool> survives(count, usual);
        survives[first] = survives[second] = !usual;
        visit(survives);
      }
    }
    visit(std::vector<bool>(count, usual));
  }
}

struct Findings {
  std::size_t states = 0;
  std::string problem;  ///< the first one
};

constexpr std::size_t torn_sizes[] = {CrashingStorage::never, 1, 7, 64, 200, 512, 895};

/// Loses the power at every operation of a life, in every way, until a promise is broken.
Findings lose_power_everywhere(Save save, const faults::SeededBugs& bugs = {}) {
  Findings findings;
  for (std::size_t crash_at = 0;; ++crash_at) {
    CrashingStorage storage;
    storage.bugs = bugs;
    storage.crash_at = crash_at;
    Oracle oracle;
    bool crashed = false;
    try {
      live(storage, oracle, save);
    } catch (const PowerLoss&) {
      crashed = true;
    }
    for_each_subset(storage.pending(), [&](const std::vector<bool>& survives) {
      for (const std::size_t torn_bytes : torn_sizes) {
        if (!findings.problem.empty()) return;
        CrashingStorage disk = storage.after_crash(survives, torn_bytes);
        ++findings.states;
        findings.problem = problem_on(disk, oracle);
      }
    });
    if (!crashed || !findings.problem.empty()) return findings;
  }
}

TEST(PowerLoss, LosesNothingAcknowledgedAtAnyOperationInAnyWay) {
  const Findings findings = lose_power_everywhere(save_correctly);
  EXPECT_EQ(findings.problem, "") << "in state " << findings.states;
  EXPECT_GT(findings.states, 5000u);
  RecordProperty("states", static_cast<int>(findings.states));
}

TEST(PowerLossHarness, CatchesAMissingSyncOfTheFile) {
  EXPECT_THAT(lose_power_everywhere(save_correctly, {.no_file_sync = true}).problem,
              HasSubstr("is intact"));
}

TEST(PowerLossHarness, CatchesAMissingSyncOfTheDirectory) {
  EXPECT_THAT(lose_power_everywhere(save_correctly, {.no_directory_sync = true}).problem,
              HasSubstr("cannot list"));
}

/// Without a rename.
void write_file(FileStorage& storage, const Path& path, const Sample& sample) {
  const auto file = storage.create_exclusive(path);
  write_checkpoint(*file, sample.content);
  file->sync();
  file->close();
}

TEST(PowerLossHarness, CatchesARenameThatIsNotSynced) {
  const Save without_directory = [](FileStorage& storage, RunDirectory& run, const Sample& sample,
                                    Oracle& oracle) {
    run.metrics().sync();
    const Path path = run.checkpoint_path(sample.content.state.step);
    const Path temporary = path.string() + temporary_suffix;
    write_file(storage, temporary, sample);
    storage.rename(temporary, path);
    oracle.acknowledged = sample.content.state.step;
  };
  EXPECT_THAT(lose_power_everywhere(without_directory).problem,
              HasSubstr("acknowledged checkpoint is lost"));
}

TEST(PowerLossHarness, CatchesDeletingBeforeTheNewFileIsDurable) {
  const Save delete_first = [](FileStorage& storage, RunDirectory& run, const Sample& sample,
                               Oracle& oracle) {
    for (const std::uint64_t step : run.list_checkpoints())
      storage.unlink(run.checkpoint_path(step));
    run.save(sample.content);
    oracle.acknowledged = sample.content.state.step;
  };
  EXPECT_THAT(lose_power_everywhere(delete_first).problem,
              HasSubstr("acknowledged checkpoint is lost"));
}

TEST(PowerLossHarness, CatchesWritingInPlace) {
  const Save in_place = [](FileStorage& storage, RunDirectory& run, const Sample& sample,
                           Oracle& oracle) {
    run.metrics().sync();
    write_file(storage, run.checkpoint_path(sample.content.state.step), sample);
    storage.sync_directory(run_path / "checkpoints");
    oracle.acknowledged = sample.content.state.step;
  };
  EXPECT_THAT(lose_power_everywhere(in_place).problem, HasSubstr("is intact"));
}

TEST(PowerLossHarness, CatchesMetricsThatAreNotDurableBeforeTheCheckpoint) {
  const Save without_metrics = [](FileStorage& storage, RunDirectory& run, const Sample& sample,
                                  Oracle& oracle) {
    commit_file(storage, run.checkpoint_path(sample.content.state.step),
                [&](StoredFile& file) { write_checkpoint(file, sample.content); });
    oracle.acknowledged = sample.content.state.step;
  };
  EXPECT_THAT(lose_power_everywhere(without_metrics).problem,
              HasSubstr("metrics.jsonl: has 0 bytes"));
}

TEST(PowerLossHarness, CatchesAnAcknowledgementThatComesTooEarly) {
  const Save too_early = [](FileStorage&, RunDirectory& run, const Sample& sample, Oracle& oracle) {
    oracle.acknowledged = sample.content.state.step;
    run.save(sample.content);
  };
  EXPECT_THAT(lose_power_everywhere(too_early).problem,
              HasSubstr("acknowledged checkpoint is lost"));
}

/// Goes on with the run, or begins it, and reports each acknowledged step until it is killed.
[[noreturn]] void run_until_killed(int channel) {
  PosixStorage storage;
  const bool begun = storage.exists(run_path / "config.toml");
  RunDirectory run = begun ? RunDirectory::open(storage, run_path) : create_sample_run(storage);
  std::vector<std::string> skipped;
  const auto newest = run.newest_valid(skipped);
  Oracle oracle;
  if (newest) oracle.acknowledged = newest->state().step;
  run.metrics().rewind(newest ? newest->state().metrics_bytes : 0);
  for (;;) {
    const std::uint64_t step = oracle.acknowledged + faults::stride;
    log_and_save(storage, run, step, oracle, save_correctly);
    if (write(channel, &step, sizeof step) != sizeof step) _exit(1);
  }
}

TEST(Kill, AtRandomTimesLosesNothingAcknowledged) {
  std::string pattern = testing::TempDir() + "bochner-kill-XXXXXX";
  const Path before = std::filesystem::current_path(), directory = mkdtemp(pattern.data());
  std::filesystem::current_path(directory);
  std::mt19937_64 random(11);
  PosixStorage storage;
  Oracle oracle;
  for (int round = 0; round < 30; ++round) {
    int channel[2];
    ASSERT_EQ(pipe(channel), 0);
    const pid_t child = fork();
    if (child == 0) run_until_killed(channel[1]);
    close(channel[1]);
    usleep(static_cast<useconds_t>(random() % 60000));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the run stopped by itself";
    for (std::uint64_t step; read(channel[0], &step, sizeof step) == sizeof step;) {
      oracle = {true, step};
    }
    close(channel[0]);
    ASSERT_EQ(problem_on(storage, oracle), "") << "seed 11, kill " << round;
  }
  EXPECT_GT(oracle.acknowledged, 0u);
  std::filesystem::current_path(before);
  std::filesystem::remove_all(directory);
}

/// A run with the steps 10 and 20 on the disk.
CrashingStorage disk_with_two_saves() {
  CrashingStorage storage;
  Oracle oracle;
  RunDirectory run = create_sample_run(storage);
  for (const std::uint64_t step : {10, 20}) {
    log_and_save(storage, run, step, oracle, save_correctly);
  }
  return storage.settled();
}

CrashingStorage powered_off(const CrashingStorage& storage) {
  return storage.after_crash(std::vector<bool>(storage.pending()), 0);
}

struct Fault {
  int reason;
  std::size_t failures;
};

class EveryOperationFails : public testing::TestWithParam<Fault> {
 protected:
  void arm(CrashingStorage& storage, std::size_t fail_at) {
    storage.calm();
    storage.fail_at = fail_at;
    storage.failures = GetParam().failures;
    storage.fail_with = GetParam().reason;
  }
};

/// Until nothing fails any more: the old checkpoint is whole, the next save succeeds and survives.
TEST_P(EveryOperationFails, InASave) {
  for (std::size_t fail_at = 0;; ++fail_at) {
    CrashingStorage storage = disk_with_two_saves();
    RunDirectory run = RunDirectory::open(storage, run_path);
    Oracle oracle;
    arm(storage, fail_at);
    bool failed = false;
    try {
      log_and_save(storage, run, 30, oracle, save_correctly);
    } catch (const IoError&) {
      failed = true;
    }
    const bool a_fault_happened = storage.failed() > 0;
    storage.calm();
    if (!a_fault_happened) {
      EXPECT_FALSE(failed);
      EXPECT_GT(fail_at, 10u);
      return;
    }
    // Only the removal of a temporary can itself fail, when more than one operation does.
    EXPECT_TRUE(GetParam().failures > 1 || !has_temporaries(storage)) << fail_at;
    CrashingStorage off = powered_off(storage);
    EXPECT_EQ(problem_on(off, {true, std::max<std::uint64_t>(20, oracle.acknowledged)}), "")
        << fail_at;

    run.metrics().flush();
    save_correctly(storage, run, Sample(30), oracle);
    off = powered_off(storage);
    EXPECT_EQ(problem_on(off, {true, 30}), "") << fail_at;
  }
}

TEST_P(EveryOperationFails, InACreation) {
  for (std::size_t fail_at = 0;; ++fail_at) {
    CrashingStorage storage;
    arm(storage, fail_at);
    bool failed = false;
    try {
      create_sample_run(storage);
    } catch (const IoError&) {
      failed = true;
    }
    const bool a_fault_happened = storage.failed() > 0;
    EXPECT_EQ(failed, a_fault_happened) << fail_at;
    storage.calm();
    EXPECT_EQ(problem_on(storage, {!failed, 0}), "") << fail_at;
    if (!a_fault_happened) return;
  }
}

TEST_P(EveryOperationFails, InAnOpening) {
  for (std::size_t fail_at = 0;; ++fail_at) {
    CrashingStorage storage = disk_with_two_saves();
    Path left = run_path / "left";
    storage.create_exclusive(left += temporary_suffix);
    arm(storage, fail_at);
    try {
      RunDirectory::open(storage, run_path);
    } catch (const IoError&) {
    }
    const bool a_fault_happened = storage.failed() > 0;
    storage.calm();
    EXPECT_EQ(problem_on(storage, {true, 20}), "") << fail_at;
    if (!a_fault_happened) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Faults, EveryOperationFails,
                         testing::Values(Fault{ENOSPC, 1}, Fault{EIO, 1}, Fault{EDQUOT, 2},
                                         Fault{EIO, CrashingStorage::never}));

}  // namespace fault_test
}  // namespace bochner
