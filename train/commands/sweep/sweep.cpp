#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/text.hpp>
#include <bochner/train/commands/common_options.hpp>
#include <bochner/train/commands/shared_work.hpp>
#include <bochner/train/config/period.hpp>
#include <bochner/train/distributed/mpi.hpp>
#include <bochner/train/sweep/runner.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <bochner/train/tasks/train_spec.hpp>

namespace bochner {
namespace {

constexpr std::size_t most_jobs = 1024, most_trials = 10000;
constexpr std::size_t largest_seed = 1000000000000000;  // a number of JSON

struct SweepOptions {
  std::string config, runs, search = "grid", budget;
  std::vector<std::string> sets, vary, goals;
  std::size_t jobs = 0, trials = 0, seed = 1, shortest = 0;
  double halving = 0;
  bool json = false;
  CommandLine* line = nullptr;
};

Path directory_of(const SweepOptions& options) {
  return options.runs.empty() ? Path("runs") / (Path(options.config).stem().string() + "-sweep")
                              : Path(options.runs);
}

/// In seconds.
double budget_of(const std::string& text) {
  if (text.empty()) return std::numeric_limits<double>::infinity();
  Period budget;
  try {
    budget = parse_period(text);
  } catch (const std::invalid_argument&) {
  }
  demand(budget.is_time(), "--budget {}: write wall time such as 45s, 30min or 2h", text);
  return budget.count;
}

void require_sense(const SweepOptions& options) {
  const SearchKind search = parse_search(options.search);
  demand(!options.config.empty(), "config is required. See: bochner sweep --help");
  demand(!options.vary.empty(), "--vary is required. See: bochner sweep --help");
  demand(options.jobs <= most_jobs, "--jobs {}: must be at most {}", options.jobs, most_jobs);
  demand(options.trials <= most_trials, "--trials {}: must be at most {}", options.trials,
         most_trials);
  demand(options.seed <= largest_seed, "--seed {}: must be at most {}", options.seed, largest_seed);
  demand(search == SearchKind::grid || options.trials > 0 || !options.budget.empty(),
         "--search {}: say how long: --trials N, --budget TIME or both", options.search);
  demand(search != SearchKind::grid || options.seed == SweepOptions().seed,
         "--seed {}: is that of a --search, not of a grid; seeds of runs: --vary train.seed=1,2,3",
         options.seed);
  demand(options.halving > 0 || options.shortest == 0,
         "--shortest {}: is the least first rung of --halving, which is missing", options.shortest);
  demand(options.halving == 0 || options.halving >= 2,
         "--halving {:g}: one in so many goes on: at least 2", options.halving);
  demand(options.halving == 0 || options.goals.size() <= 1,
         "--halving goes by one --goal, not by {}", options.goals.size());
}

/// A key that is not there is an error of the call, and no result of a trial.
void require_key(const Config& base, const Variation& variation) {
  std::vector<std::string> values = variation.values;
  if (variation.range)
    values = {number_text(variation.range->low), number_text(variation.range->high)};
  for (const std::string& value : values) {
    Config config = base;
    apply_set(config, variation.key + "=" + value, "--vary");
  }
}

/// Whole numbers where the key takes no others.
std::vector<Variation> variations_of(const SweepOptions& options, const Config& base) {
  std::vector<Variation> variations;
  for (const std::string& text : options.vary) {
    Variation variation = parse_variation(text);
    const bool seeds = variation.key == "train.seed" && options.search != "grid";
    demand(!seeds, "--vary train.seed: --search {} compares single runs; a grid takes seeds",
           options.search);
    const ParameterRow* row = base.table().find(variation.key);
    if (variation.range && row) variation.range->whole = row->kind() != ConfigKind::number;
    require_key(base, variation);
    variations.push_back(std::move(variation));
  }
  return variations;
}

/// Steps at which trials wait.
std::vector<std::uint64_t> rungs_for(const SweepOptions& options, const Config& base) {
  if (options.halving == 0) return {};
  const TrainSpec spec = read_spec<TrainSpec>(base, "train");
  const auto counted = [](const Period& period) {
    return !period.off() && period.unit == Period::Unit::steps;
  };
  demand(counted(spec.steps) && counted(spec.validate_every),
         "--halving needs train.steps and train.validate.every in steps, such as 500; they are {} "
         "and {}",
         format_value(spec.steps), format_value(spec.validate_every));
  for (const std::string& text : options.vary)
    for (const char* key : {"train.steps=", "train.validate.every="})
      demand(!text.starts_with(key), "--vary {}: --halving compares trials at equal steps", text);
  const auto steps = std::uint64_t(spec.steps.count),
             every = std::uint64_t(spec.validate_every.count);
  demand(double(options.shortest) * options.halving <= double(steps),
         "--shortest {}: is above train.steps / {:g} = {}, the last rung before the end",
         options.shortest, options.halving, std::floor(double(steps) / options.halving));
  const auto rungs = rungs_of(steps, options.halving, options.shortest, every);
  demand(rungs.size() > 1,
         "--halving: there is no rung below train.steps = {}; set train.validate.every, now {}, "
         "lower",
         steps, every);
  return rungs;
}

SweepHeader header_of(const SweepOptions& options, const Config& base) {
  SweepHeader header{.search = parse_search(options.search),
                     .seed = options.seed,
                     .vary = options.vary,
                     .goals = {},
                     .rungs = rungs_for(options, base),
                     .factor = options.halving};
  for (const std::string& goal : options.goals) {
    demand(std::ranges::count(options.goals, goal) == 1, "--goal {}: given twice", goal);
    header.goals.push_back(parse_goal(goal));
  }
  if (header.goals.empty()) header.goals.push_back(Goal());
  return header;
}

/// The configs of a grid are all checked before its first run starts.
void set_points(SweepPlan& plan, const std::vector<Variation>& variations, const Path& directory,
                std::size_t at_most) {
  PosixStorage storage;
  plan.points = grid(variations);
  if (at_most > 0 && at_most < plan.points.size()) plan.points.resize(at_most);
  for (const GridPoint& point : plan.points) {
    std::vector<std::string> sets = plan.sets;
    sets.insert(sets.end(), point.sets.begin(), point.sets.end());
    has_run(storage, directory / point.name, trial_config(plan, point.name, sets));
  }
}

/// What this process runs at a time, unless it is asked for: a run on each of its processors.
JobShare share_of(const SweepOptions& options, const Processes& processes) {
  const std::size_t processors = shared_processors(processes), asked = options.line->threads();
  const std::size_t jobs = options.jobs > 0 ? options.jobs : processors;
  return {jobs, asked > 0 ? asked : std::max<std::size_t>(1, processors / jobs)};
}

int run_sweep(const SweepOptions& options, Processes& processes, SignalGuard& signals) {
  require_sense(options);
  const double budget = budget_of(options.budget);
  Config base = load_config(options.config, registered_parameters());
  for (const std::string& set : options.sets) apply_set(base, set);
  const SweepHeader header = header_of(options, base);
  const std::vector<Variation> variations = variations_of(options, base);
  SweepPlan plan{.config = options.config,
                 .sets = options.sets,
                 .space = Space(variations),
                 .most_trials = options.trials > 0 ? options.trials : most_trials,
                 .share = share_of(options, processes),
                 .budget = budget,
                 .json = options.json};
  if (header.search == SearchKind::grid)
    set_points(plan, variations, directory_of(options), options.trials);
  PosixStorage storage;
  SweepJournal journal = SweepJournal::open(storage, directory_of(options), header);
  return SweepRunner(storage, plan, journal, signals).run(processes);
}

/// Trains each run in a process of its own; runs that exist already are gone on with. The first of
/// the processes that were started together decides what is trained, and all train.
int sweep_command(const SweepOptions& options, SignalGuard& signals) {
  SharedWork work(*options.line);
  std::vector<int> code = {exit_done};
  if (work.leads())
    code[0] = run_sweep(options, work.processes(), signals);
  else
    help_with_jobs(work.processes(), share_of(options, work.processes()), signals);
  work.processes().share(code);
  work.end();
  return code[0];
}

}  // namespace

// In sweep/looks.cpp.
void add_sweep_looks(const Command& sweep);

void add_sweep(const Command& program) {
  const auto [command, options] = program.command(
      "sweep", "runs for values of some keys: all combinations, or searched for the best",
      sweep_command);
  command.shares_work();
  options.line = &command.line();
  command.option("config", &options.config, "config file (TOML)", "FILE");
  command.option("--vary", &options.vary,
                 "values of a key, for instance train.seed=1,2,3, or a range, "
                 "optim.lr=1e-4..1e-2:log, and where they count: ' if KEY=VALUE'",
                 "KEY=VALUES");
  command.option("--search", &options.search, "grid, random, sobol or bayes", "KIND")
      .shows_default();
  command.number("--trials", &options.trials, "runs that are begun at most, 0 for no limit");
  command.option("--budget", &options.budget, "wall time of the whole sweep, such as 30min",
                 "TIME");
  command.option("--goal", &options.goals,
                 "number of the metrics to make small or large (default: valid.min); given again, "
                 "the best of several goals",
                 "METRIC.min");
  command.option("--halving", &options.halving,
                 "stop early: of the runs that came to a step, one in N goes on", "N");
  command.number("--shortest", &options.shortest,
                 "least steps of the first stop, 0 for train.steps / N^3");
  command.number("--seed", &options.seed, "of the search");
  add_sets(command, options.sets);
  command.option("--runs", &options.runs,
                 "directory of the runs (default: runs/NAME-sweep of the config)", "DIR");
  command.number("--jobs", &options.jobs,
                 "runs at the same time, under mpirun in each process, 0 for one each processor");
  command.flag("--json", &options.json, "print JSON lines");
  add_sweep_looks(command);
}

}  // namespace bochner
