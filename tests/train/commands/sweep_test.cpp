#include <gmock/gmock.h>

#include <bochner/base/errors.hpp>
#include <bochner/train/sweep/grid.hpp>
#include <bochner/train/sweep/workers.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <train/thread_processes.hpp>

#include "data/messages.hpp"

namespace bochner {
namespace sweep_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(Variation, IsCutAtCommasBetweenValues) {
  const Variation seeds = parse_variation("train.seed=1,2,3");
  EXPECT_EQ(seeds.key, "train.seed");
  EXPECT_THAT(seeds.values, ElementsAre("1", "2", "3"));
  EXPECT_THAT(parse_variation("optim.betas=[0.9, 0.95],[0.9,0.99]").values,
              ElementsAre("[0.9, 0.95]", "[0.9,0.99]"));
  EXPECT_THAT(parse_variation("optim.schedule={ kind = 'cosine', floor = 0 }").values,
              ElementsAre("{ kind = 'cosine', floor = 0 }"));
  EXPECT_THAT(parse_variation("a='x,y',\"z]\"").values, ElementsAre("'x,y'", "\"z]\""));
}

TEST(Variation, WritesWholeNumbersWhole) {
  EXPECT_THAT(parse_variation("m=25000..100000:log2").values,
              ElementsAre("25000", "50000", "100000"));
  EXPECT_EQ(number_text(1e5), "100000");
  EXPECT_EQ(number_text(-0.0), "0");
  EXPECT_EQ(number_text(0.25), "0.25");
}

TEST(Variation, NeedsAKeyAndValues) {
  for (const char* text : {"", "train.seed", "=1,2", "train.seed=", "train.seed=1,,2"})
    EXPECT_EQ(message_or_none<std::invalid_argument>([&] { parse_variation(text); }),
              "--vary " + std::string(text) + ": write KEY=VALUE,VALUE, such as train.seed=1,2,3");
}

TEST(Grid, HasAllCombinationsTheLastChangingFastest) {
  const auto points = grid({{"optim.lr", {"1e-3", "3e-3"}}, {"train.seed", {"1", "2"}}});
  std::vector<std::string> names;
  for (const GridPoint& point : points) names.push_back(point.name);
  EXPECT_THAT(names,
              ElementsAre("lr=1e-3,seed=1", "lr=1e-3,seed=2", "lr=3e-3,seed=1", "lr=3e-3,seed=2"));
  EXPECT_THAT(points[2].sets, ElementsAre("optim.lr=3e-3", "train.seed=1"));
  EXPECT_THAT(points[2].values, ElementsAre("3e-3", "1"));
}

TEST(Grid, LeavesOutKeysWhoseConditionDoesNotHold) {
  const auto points = grid(
      {parse_variation("kind=a,b"), parse_variation("m=1,2 if kind=a"), parse_variation("n=5")});
  std::vector<std::string> names;
  for (const GridPoint& point : points) names.push_back(point.name);
  EXPECT_THAT(names, ElementsAre("kind=a,m=1,n=5", "kind=a,m=2,n=5", "kind=b,n=5"));
  EXPECT_THAT(points[2].values, ElementsAre("b", "", "5"));
  EXPECT_THAT(points[2].sets, ElementsAre("kind=b", "n=5"));
  EXPECT_THROW(grid({parse_variation("lr=0..1")}), std::invalid_argument);
}

TEST(Grid, NamesCanBeDirectories) {
  const auto points = grid({{"a.kind", {"x/../y"}}, {"b.kind", {"[1, 2]"}}});
  EXPECT_EQ(points[0].name, "a.kind=x_.._y,b.kind=_1__2_");
}

TEST(Grid, NamesHaveRoomInAFolder) {
  const std::string common(300, 'x');
  const auto points = grid({{"a", {common + "1", common + "2", std::string(249, 'y')}}});
  EXPECT_EQ(points[0].name.size(), 251u);
  EXPECT_NE(points[0].name, points[1].name);
  EXPECT_EQ(points[0].sets[0], "a=" + common + "1");
  EXPECT_EQ(points[2].name, "a=" + std::string(249, 'y'));
}

TEST(Grid, RefusesWhatIsNotDifferent) {
  EXPECT_EQ(message_or_none<std::invalid_argument>([] {
              grid({{"a", {"1"}}, {"a", {"2"}}});
            }),
            "--vary a: given twice");
  EXPECT_EQ(message_or_none<std::invalid_argument>([] {
              grid({{"a", {"x/y", "x:y"}}});
            }),
            "--vary a: x:y is given twice");
  EXPECT_EQ(message_or_none<std::invalid_argument>([] {
              grid({{"a", {"1e-3", "0.001"}}});
            }),
            "--vary a: 0.001 is given twice");
  EXPECT_EQ(message_or_none<std::invalid_argument>([] {
              grid({{"a", {"1", "2"}}, {"b", {"1", "2"}}}, 3);
            }),
            "--vary: more than 3 combinations; vary fewer values");
}

TEST(LastValidation, HasTheNumbersOfTheLastLineThatIsOne) {
  const std::string metrics =
      "{\"step\":5,\"valid\":2.5,\"accuracy\":0.25}\n"
      "{\"step\":10,\"valid\":1.5,\"bits\":2,\"kernels\":[{\"error\":1}]}\n"
      "{\"step\":11,\"loss\":1.25}\n"
      "{\"step\":15,\"valid\":9";
  EXPECT_THAT(last_validation(metrics), ElementsAre(Pair("valid", 1.5), Pair("bits", 2)));
  EXPECT_THAT(last_validation(""), IsEmpty());
}

TEST(Summary, JoinsSeedsInARow) {
  const std::vector<Variation> variations{{"features", {"elu", "relu"}},
                                          {"train.seed", {"1", "2"}}};
  const auto points = grid(variations);
  const std::vector<SweepResult> results{{points[0], {{"valid", 1}, {"accuracy", 0.5}}},
                                         {points[1], {{"valid", 2}, {"accuracy", 0.75}}},
                                         {points[3], {{"valid", 1.23456}}}};
  EXPECT_EQ(summary(variations, results),
            "| features | runs | valid | accuracy |\n"
            "| --- | --- | --- | --- |\n"
            "| elu | 2 | 1.5 (1 to 2) | 0.625 (0.5 to 0.75) |\n"
            "| relu | 1 | 1.235 |  |\n");
  EXPECT_EQ(
      result_json(results[2], "runs/x"),
      "{\"set\":[\"features=relu\",\"train.seed=2\"],\"run\":\"runs/x\",\"valid\":1.23456}\n");
}

/// Runs jobs here, at most `at_most` at the same time.
void run_jobs(std::size_t at_most, const JobQueue& queue) {
  LocalJobs here({.jobs = at_most});
  run_jobs({&here}, queue);
}

/// Runs a list of jobs, until `signals` has received a stop.
void run_jobs(const std::vector<Job>& jobs, std::size_t at_most, const SignalGuard& signals,
              const JobEnded& ended) {
  std::size_t next = 0;
  run_jobs(at_most, {.next = [&]() -> std::optional<Job> {
                       if (next == jobs.size()) return std::nullopt;
                       return jobs[next++];
                     },
                     .ended = ended,
                     .stopped = [&] { return signals.stop_requested(); }});
}

TEST(RunJobs, TellsExitCodesAndKeepsOutput) {
  const auto log = std::filesystem::temp_directory_path() / ("jobs-" + std::to_string(getpid()));
  std::vector<Job> jobs;
  for (const char* script : {"echo one; exit 3", "echo two >&2", "kill -9 $$", "exit 75"})
    jobs.push_back({{"/bin/sh", "-c", script}, log.string()});
  std::vector<int> codes(jobs.size(), -1);
  const SignalGuard signals;
  run_jobs(jobs, 2, signals, [&](std::size_t index, int code) { codes[index] = code; });
  EXPECT_THAT(codes, ElementsAre(3, 0, 128 + 9, 75));
  std::ifstream file(log);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("one\n"), text.npos);
  EXPECT_NE(text.find("two\n"), text.npos);
  std::filesystem::remove(log);
}

// A process that ignores SIGCHLD never learns how a child ended.
TEST(RunJobs, CountAnUnknownEndAsAFailure) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  int code = -1;
  const SignalGuard signals;
  run_jobs({{{"/bin/sh", "-c", "true"}, "/dev/null"}}, 1, signals,
           [&](std::size_t, int ended) { code = ended; });
  std::signal(SIGCHLD, before);
  EXPECT_EQ(code, 127);
}

TEST(RunJobs, WaitForWhoHasTheirLog) {
  const auto log = std::filesystem::temp_directory_path() / ("waits-" + std::to_string(getpid()));
  const SignalGuard signals;
  run_jobs({{{"/bin/sh", "-c", "sleep 0.2; echo one"}, log.string()},
            {{"/bin/sh", "-c", "echo two"}, log.string()}},
           2, signals, [](auto, auto) {});
  std::ifstream file(log);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "one\ntwo\n");
  std::filesystem::remove(log);
}

TEST(RunJobs, AskForTheNextOneUntilThereIsNone) {
  std::vector<int> codes;
  const auto next = [&, count = 0]() mutable -> std::optional<Job> {
    // The second job depends on how the first one ended.
    if (count == 1 && codes.empty()) return std::nullopt;
    if (count == 2) return std::nullopt;
    const std::string code = count++ == 0 ? "3" : std::to_string(codes[0] + 1);
    return Job{{"/bin/sh", "-c", "exit " + code}, "/dev/null"};
  };
  run_jobs(2, {.next = next,
               .ended = [&](std::size_t, int code) { codes.push_back(code); },
               .stopped = [] { return false; }});
  EXPECT_THAT(codes, ElementsAre(3, 4));
}

TEST(RunJobs, SaysWhatCannotBeStarted) {
  const SignalGuard signals;
  EXPECT_THROW(run_jobs({{{"/nowhere/program"}, "/dev/null"}}, 1, signals, [](auto, auto) {}),
               IoError);
}

/// Returns the results of jobs that the first of three processes assigns, one at a time each; they
/// run in an empty directory.
std::vector<int> codes_of_shared(const std::vector<std::string>& scripts,
                                 const std::function<bool(std::size_t begun)>& stopped) {
  const auto folder = std::filesystem::temp_directory_path() / ("jobs-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder / "here");
  SignalGuard signals;
  std::vector<int> codes(scripts.size(), -1);
  std::size_t begun = 0;
  const auto next = [&]() -> std::optional<Job> {
    if (begun == scripts.size()) return std::nullopt;
    const std::string log = folder / std::to_string(begun);
    return Job{{"/bin/sh", "-c", "cd " + (folder / "here").string() + "; " + scripts[begun++]},
               log};
  };
  run_processes(3, [&](Processes& processes) {
    receive_signals_here();  // also for the shells that it starts
    if (!processes.leads()) return help_with_jobs(processes, {.jobs = 1}, signals);
    run_shared_jobs(processes, {.jobs = 1},
                    {.next = next,
                     .ended = [&](std::size_t index, int code) { codes[index] = code; },
                     .stopped = [&] { return stopped(begun); }},
                    signals);
  });
  std::filesystem::remove_all(folder);
  return codes;
}

TEST(SharedJobs, RunInAllProcessesAtTheSameTime) {
  // The first three jobs wait for each other.
  const std::string meet =
      "touch $$; for i in $(seq 1000); do [ $(ls | wc -l) -lt 3 ] || exit 5; sleep 0.01; done";
  EXPECT_THAT(codes_of_shared({meet, meet, meet, "exit 1", "exit 2", "kill -9 $$", "exit 75"},
                              [](std::size_t) { return false; }),
              ElementsAre(5, 5, 5, 1, 2, 128 + 9, 75));
}

TEST(SharedJobs, AreStoppedEverywhere) {
  const std::string wait = "exec sleep 60";
  EXPECT_THAT(
      codes_of_shared({wait, wait, wait, "exit 1"}, [](std::size_t begun) { return begun == 3; }),
      ElementsAre(128 + 15, 128 + 15, 128 + 15, -1));
}

TEST(RunJobs, KnowNothingOfMpirun) {
  ::setenv("OMPI_COMM_WORLD_SIZE", "3", 1);
  ::setenv("SLURM_STEP_NUM_TASKS", "3", 1);
  std::vector<int> codes(1, -1);
  const SignalGuard signals;
  run_jobs(
      {{{"/bin/sh", "-c", "exit ${OMPI_COMM_WORLD_SIZE-4}${SLURM_STEP_NUM_TASKS-2}"}, "/dev/null"}},
      1, signals, [&](std::size_t index, int code) { codes[index] = code; });
  ::unsetenv("OMPI_COMM_WORLD_SIZE");
  ::unsetenv("SLURM_STEP_NUM_TASKS");
  EXPECT_THAT(codes, ElementsAre(42));
}

}  // namespace sweep_test
}  // namespace bochner
