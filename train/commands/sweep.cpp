#include <fmt/format.h>

#include <algorithm>
#include <bochner/data/files/text.hpp>
#include <bochner/train/commands/common_options.hpp>
#include <bochner/train/commands/sweep/grid.hpp>
#include <bochner/train/commands/sweep/processes.hpp>
#include <bochner/train/run/run_directory.hpp>
#include <bochner/train/storage/storage.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <chrono>
#include <cstdio>
#include <map>
#include <ranges>
#include <thread>
#include <utility>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t most_jobs = 1024;

struct SweepOptions {
  std::string config, runs;
  std::vector<std::string> sets, vary;
  std::size_t jobs = 0;
  bool json = false;
  const CommandLine* line = nullptr;
};

Path directory_of(const SweepOptions& options) {
  return options.runs.empty() ? Path("runs") / (Path(options.config).stem().string() + "-sweep")
                              : Path(options.runs);
}

/// The config of one run, checked.
Config config_of(const std::string& file, const std::vector<std::string>& sets,
                 const std::string& run) {
  try {
    return read_config(file, sets);
  } catch (const ConfigError& error) {
    throw ConfigError(fmt::format("{}: {}", run, error.what()));
  }
}

struct PlannedRun {
  GridPoint point;
  Path path;
  Config config;
  std::vector<std::string> sets;
  Job job = {};
};

/// Whether there is the run already; refuses to go on with one of other settings.
bool require_same(FileStorage& storage, const PlannedRun& run) {
  if (!storage.exists(run.path / "config.toml")) return false;
  // Keys that are younger than the run are no difference: it goes on as it was.
  const Config found = parse_config(RunDirectory::read(storage, run.path).config(),
                                    (run.path / "config.toml").string(), registered_parameters());
  const std::vector<ConfigChange> different = changes(found, run.config);
  if (different.empty()) return true;
  throw ConfigError(fmt::format(
      "{}: was made with {} = {}, not {}; choose another --runs DIR", run.path.string(),
      different[0].name, format_value(different[0].before), format_value(different[0].after)));
}

using Clock = std::chrono::steady_clock;
/// A step, a validation that is given up and a save.
constexpr std::chrono::seconds longest_wait{60};

/// Waits while other processes train the runs, those of a sweep that was killed, which save and end
/// soon. Runs that somebody uses for longer come last, and say themselves that they are in use.
void await_end_of_use(FileStorage& storage, std::vector<PlannedRun>& runs,
                      const SignalGuard& signals) {
  const auto is_free = [&](const PlannedRun& run) {
    return RunDirectory::in_use(storage, run.path).empty();
  };
  const auto until = Clock::now() + longest_wait;
  bool told = false;
  while (!std::ranges::all_of(runs, is_free) && Clock::now() < until && !signals.stop_requested()) {
    const PlannedRun& used = *std::ranges::find_if_not(runs, is_free);
    const std::string use = RunDirectory::in_use(storage, used.path);
    if (!std::exchange(told, true) && !use.empty())
      fmt::print(stderr, "waiting  {}\n", printable(use));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  std::ranges::stable_partition(runs, is_free);
}

/// All runs, checked before the first one starts.
std::vector<PlannedRun> plan(FileStorage& storage, const SweepOptions& options,
                             const std::vector<Variation>& variations) {
  std::vector<PlannedRun> runs;
  for (const GridPoint& point : grid(variations)) {
    std::vector<std::string> sets = options.sets;
    sets.insert(sets.end(), point.sets.begin(), point.sets.end());
    const Path path = directory_of(options) / point.name;
    runs.push_back({point, path, config_of(options.config, sets, point.name), sets});
    require_same(storage, runs.back());
  }
  return runs;
}

/// Begins a run, or goes on with what is there of it.
Job job_of(FileStorage& storage, const SweepOptions& options, const PlannedRun& run,
           std::size_t threads) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  std::vector<std::string> words = {program, "resume", run.path.string()};
  if (!require_same(storage, run)) {
    words = {program, "train", options.config, "--run", run.path.string()};
    for (const std::string& set : run.sets) words.insert(words.end(), {"--set", set});
  }
  words.insert(words.end(), {"--progress", "none", "--threads", std::to_string(threads)});
  return {std::move(words), run.path.string() + ".log"};
}

/// Says how each run ended, and all of them together.
class SweepReport {
 public:
  SweepReport(FileStorage& storage, const std::vector<PlannedRun>& runs, bool json)
      : storage_(storage), runs_(runs), json_(json) {}

  void ended(std::size_t index, int code) {
    const PlannedRun& run = runs_[index];
    if (code == exit_done) {
      results_[index] = {run.point,
                         last_validation(read_file(storage_, run.path / "metrics.jsonl"))};
      print(results_[index], run.path.string());
    } else if (code != exit_stopped) {
      ++failed_;
      fmt::print(stderr, "failed   {}: exit code {}, see {}\n", run.point.name, code, run.job.log);
    }
  }

  int finish(const std::vector<Variation>& variations) const {
    const auto results = results_ | std::views::values;
    if (!json_ && !results.empty())
      fmt::print("\n{}", summary(variations, {results.begin(), results.end()}));
    if (results.size() + failed_ == runs_.size()) return failed_ > 0 ? exit_failed : exit_done;
    fmt::print(stderr, "stopped  {} of {} runs are done; the same command goes on\n",
               results.size(), runs_.size());
    return exit_stopped;
  }

 private:
  void print(const SweepResult& result, const std::string& path) const {
    std::vector<std::string> words;
    for (const auto& [name, number] : result.measures)
      words.push_back(fmt::format("{} {:.4g}", name, number));
    fmt::print(
        "{}", json_ ? result_json(result, path)
                    : fmt::format("done     {}   {}\n", result.point.name, fmt::join(words, ", ")));
    std::fflush(stdout);
  }

  FileStorage& storage_;
  const std::vector<PlannedRun>& runs_;
  bool json_;
  std::map<std::size_t, SweepResult> results_;  // by the index of the run
  std::size_t failed_ = 0;
};

/// Trains each run in a process of its own; runs that exist already are gone on with.
int sweep_command(const SweepOptions& options, SignalGuard& signals) {
  demand(options.jobs <= most_jobs, "--jobs {}: must be at most {}", options.jobs, most_jobs);
  std::vector<Variation> variations;
  for (const std::string& text : options.vary) variations.push_back(parse_variation(text));
  const std::size_t processors = std::max(1u, std::thread::hardware_concurrency());
  const std::size_t at_most = options.jobs > 0 ? options.jobs : processors;
  const std::size_t asked = options.line->threads();
  const std::size_t threads = asked > 0 ? asked : std::max<std::size_t>(1, processors / at_most);
  PosixStorage storage;
  std::vector<PlannedRun> runs = plan(storage, options, variations);
  await_end_of_use(storage, runs, signals);
  make_directories(storage, directory_of(options));
  std::vector<Job> jobs;
  for (PlannedRun& run : runs) jobs.push_back(run.job = job_of(storage, options, run, threads));
  SweepReport report(storage, runs, options.json);
  run_jobs(jobs, at_most, signals, [&](std::size_t index, int code) { report.ended(index, code); });
  return report.finish(variations);
}

}  // namespace

void add_sweep(const Command& program) {
  const auto [command, options] =
      program.command("sweep", "a run for every combination of values of some keys", sweep_command);
  options.line = &command.line();
  add_config_file(command, options.config);
  command
      .option("--vary", &options.vary, "values of a key, for instance train.seed=1,2,3",
              "KEY=VALUE,VALUE")
      .required();
  add_sets(command, options.sets);
  command.option("--runs", &options.runs,
                 "directory of the runs (default: runs/NAME-sweep of the config)", "DIR");
  command.number("--jobs", &options.jobs, "runs at the same time, 0 for one each processor");
  command.flag("--json", &options.json, "print JSON lines");
}

}  // namespace bochner::inline BOCHNER_PRECISION
