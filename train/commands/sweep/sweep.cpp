#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/format.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/text.hpp>
#include <bochner/train/commands/common_options.hpp>
#include <bochner/train/commands/shared_work.hpp>
#include <bochner/train/config/period.hpp>
#include <bochner/train/distributed/mpi.hpp>
#include <bochner/train/run/run_directory.hpp>
#include <bochner/train/sweep/runner.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <bochner/train/tasks/train_spec.hpp>
#include <cmath>

namespace bochner {
namespace {

struct StatusOptions {
  std::string runs, goal;
  bool json = false, config = false;
};

Json json_of(const SweepHeader& header, const SweepTrial& trial) {
  Json json = {{"trial", trial.name},
               {"state", state_of(trial)},
               {"set", sets_of(space_of(header).variations(), trial.values)}};
  if (!trial.steps.empty()) json.set("step", trial.steps.back());
  if (!trial.failed.empty()) json.set("failed", trial.failed);
  for (std::size_t i = 0; i < header.goals.size() && !trial.measured.empty(); ++i)
    json.set(header.goals[i].metric, trial.measured.back()[i]);
  return json;
}

std::string words_of(const SweepHeader& header, const SweepTrial& trial) {
  std::string words =
      fmt::format("{:<6} {}   {}", state_of(trial), printable(trial.name),
                  joined(sets_of(space_of(header).variations(), trial.values), " "));
  if (!trial.steps.empty()) words += fmt::format("   step {}", trial.steps.back());
  for (std::size_t i = 0; i < header.goals.size() && !trial.measured.empty(); ++i)
    words += fmt::format(", {} {:.4g}", header.goals[i].metric, trial.measured.back()[i]);
  return trial.failed.empty() ? words : words + "   " + printable(trial.failed);
}

void status_command(const StatusOptions& options) {
  PosixStorage storage;
  const SweepJournal journal = SweepJournal::read(storage, options.runs);
  const auto count = [&](const char* state) {
    return std::ranges::count(journal.trials(), state, state_of);
  };
  if (!options.json)
    fmt::print("{}   {} search, {} trials in {}: {} done, {} waiting, {} failed, {} open\n",
               printable(options.runs), name_of(journal.header().search), journal.trials().size(),
               format_duration(journal.seconds()), count("done"), count("waits"), count("failed"),
               count("open"));
  std::vector<std::size_t> front;  // empty for a single goal
  if (journal.header().goals.size() > 1) front = journal.best();
  for (std::size_t i = 0; i < journal.trials().size(); ++i) {
    const SweepTrial& trial = journal.trials()[i];
    const bool is_in_front = std::ranges::count(front, i) > 0;
    if (options.json) {
      Json json = json_of(journal.header(), trial);
      if (is_in_front) json.set("front", true);
      print_line(json);
    } else {
      fmt::print("{}{}\n", words_of(journal.header(), trial), is_in_front ? "   front" : "");
    }
  }
}

std::size_t goal_of(const SweepJournal& journal, const std::string& text) {
  const std::vector<Goal>& goals = journal.header().goals;
  const auto found = std::ranges::find(goals, text, &Goal::text);
  demand(text.empty() || found != goals.end(), "--goal {}: the goals of this sweep begin with {}",
         text, goals.front().text());
  return text.empty() ? 0 : std::size_t(found - goals.begin());
}

/// Returns the best trials by one goal, by the mean over seeds.
SeedGroup best_by(const SweepJournal& journal, std::size_t goal) {
  std::vector<SeedGroup> groups = journal.done_groups();
  std::erase_if(groups, [&](const SeedGroup& one) { return std::isnan(one.means[goal]); });
  demand(!groups.empty(), "{}: no trial is done yet", journal.directory().string());
  return *std::ranges::min_element(groups, {}, [&](const SeedGroup& one) {
    return journal.header().goals[goal].score(one.means[goal]);
  });
}

void best_command(const StatusOptions& options) {
  PosixStorage storage;
  const SweepJournal journal = SweepJournal::read(storage, options.runs);
  const std::size_t goal = goal_of(journal, options.goal);
  const SeedGroup seeds = best_by(journal, goal);
  const SweepTrial& best = journal.trials()[seeds.trials.front()];
  const Path run = journal.directory() / best.name;
  if (options.config) {
    fmt::print("{}", RunDirectory::read(storage, run).config());
  } else if (options.json) {
    print_line(json_of(journal.header(), best).set("run", run.string()));
  } else {
    fmt::print("{}\n", words_of(journal.header(), best));
    if (seeds.trials.size() > 1)
      fmt::print("mean of {} seeds   {} {:.4g}\n", seeds.trials.size(),
                 journal.header().goals[goal].metric, seeds.means[goal]);
  }
}

void plot_command_of_sweep(const StatusOptions& options) {
  PosixStorage storage;
  const SweepJournal journal = SweepJournal::read(storage, options.runs);
  write_sweep_page(storage, journal);
  fmt::print("{}\n", sweep_page(journal.directory()).string());
}

void add_directory(const Command& command, StatusOptions& options) {
  command.option("runs", &options.runs, "directory of the sweep", "DIR").required();
}

void add_sweep_status(const Command& sweep) {
  const auto [status, shown] =
      sweep.command("status", "print the trials of a sweep", status_command);
  add_directory(status, shown);
  status.flag("--json", &shown.json, "print JSON lines");
  const auto [best, chosen] =
      sweep.command("best", "print the best trial of a sweep", best_command);
  add_directory(best, chosen);
  best.flag("--config", &chosen.config, "print the config of its run");
  best.option("--goal", &chosen.goal, "goal to use, of several (default: the first)", "METRIC.min");
  best.flag("--json", &chosen.json, "print JSON");
  const auto [plot, drawn] = sweep.command(
      "plot", "write a report of a sweep with charts: DIR/sweep.html", plot_command_of_sweep);
  add_directory(plot, drawn);
}

constexpr std::size_t most_jobs = 1024, most_trials = 10000;
constexpr std::size_t largest_seed = 1000000000000000;  // exact in JSON

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

/// Returns the seconds of --budget; infinity if it is not given.
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

void check_options(const SweepOptions& options) {
  const SearchKind search = parse_search(options.search);
  demand(!options.config.empty(), "file is required. See: bochner sweep --help");
  demand(!options.vary.empty(), "--vary is required. See: bochner sweep --help");
  demand(options.jobs <= most_jobs, "--jobs {}: must be at most {}", options.jobs, most_jobs);
  demand(options.trials <= most_trials, "--trials {}: must be at most {}", options.trials,
         most_trials);
  demand(options.seed <= largest_seed, "--seed {}: must be at most {}", options.seed, largest_seed);
  demand(search == SearchKind::grid || options.trials > 0 || !options.budget.empty(),
         "--search {} requires a limit: --trials N, --budget TIME or both", options.search);
  demand(search != SearchKind::grid || options.seed == SweepOptions().seed,
         "--seed {} applies to --search, not to a grid; for seeds of runs: --vary train.seed=1,2,3",
         options.seed);
  demand(options.halving > 0 || options.shortest == 0,
         "--shortest {} requires --halving, whose first rung it limits", options.shortest);
  demand(options.halving == 0 || options.halving >= 2,
         "--halving {:g}: must be at least 2: one in N trials continues", options.halving);
  demand(options.halving == 0 || options.goals.size() <= 1, "--halving takes one --goal, not {}",
         options.goals.size());
}

/// Throws on unknown keys and values, which are errors of the call, not results of a trial.
void require_key(const Config& base, const Variation& variation) {
  std::vector<std::string> values = variation.values;
  if (variation.range)
    values = {number_text(variation.range->low), number_text(variation.range->high)};
  for (const std::string& value : values) {
    Config config = base;
    apply_set(config, variation.key + "=" + value, "--vary");
  }
}

/// Parses --vary. Ranges of integer keys take whole numbers only.
std::vector<Variation> variations_of(const SweepOptions& options, const Config& base) {
  std::vector<Variation> variations;
  for (const std::string& text : options.vary) {
    Variation variation = parse_variation(text);
    const bool seeds = variation.key == "train.seed" && options.search != "grid";
    demand(
        !seeds,
        "--vary train.seed: not supported by --search {}, which compares single runs; use a grid",
        options.search);
    const ParameterRow* row = base.table().find(variation.key);
    if (variation.range && row) variation.range->whole = row->kind() != ConfigKind::number;
    require_key(base, variation);
    variations.push_back(std::move(variation));
  }
  return variations;
}

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
         "--halving: no rung below train.steps = {}; lower train.validate.every, now {}", steps,
         every);
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

/// Sets the points of a grid; checks all their configs before the first run starts.
void set_points(SweepPlan& plan, const std::vector<Variation>& variations, const Path& directory,
                std::size_t at_most) {
  PosixStorage storage;
  plan.points = grid(variations);
  if (at_most > 0 && at_most < plan.points.size()) plan.points.resize(at_most);
  for (const GridPoint& point : plan.points) {
    std::vector<std::string> sets = plan.sets;
    sets.insert(sets.end(), point.sets.begin(), point.sets.end());
    has_run(storage, directory / point.name, trial_config(plan.config, point.name, sets));
  }
}

/// Returns the jobs and threads of this process, by default one job per processor.
JobShare share_of(const SweepOptions& options, const Processes& processes) {
  const std::size_t processors = shared_processors(processes), asked = options.line->threads();
  const std::size_t jobs = options.jobs > 0 ? options.jobs : processors;
  return {jobs, asked > 0 ? asked : std::max<std::size_t>(1, processors / jobs)};
}

int run_sweep(const SweepOptions& options, Processes& processes, SignalGuard& signals) {
  check_options(options);
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
  return run_trials(storage, plan, journal, signals, processes);
}

/// Trains each run in a separate process and continues existing runs. The first process of mpirun
/// assigns runs; all train.
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

void add_sweep(const Command& program) {
  const auto [command, options] = program.command(
      "sweep", "train runs over values of keys: a grid, or a search for the best", sweep_command);
  options.line = command.shares_work();
  command.option("file", &options.config, "config file (TOML)", "FILE");
  command.option("--vary", &options.vary,
                 "values of a key, for instance train.seed=1,2,3, or a range such as "
                 "optim.lr=1e-4..1e-2:log; append ' if KEY=VALUE' for a condition",
                 "KEY=VALUES");
  command.option("--search", &options.search, "grid, random, sobol or bayes", "KIND")
      .shows_default();
  command.number("--trials", &options.trials, "largest number of runs, 0 for no limit");
  command.option("--budget", &options.budget, "wall time of the whole sweep, such as 30min",
                 "TIME");
  command.option("--goal", &options.goals,
                 "metric to minimize or maximize (default: valid.min); repeat for the Pareto front "
                 "of several goals",
                 "METRIC.min");
  command.option("--halving", &options.halving,
                 "stop early: one in N of the runs that reach a rung continues", "N");
  command.number("--shortest", &options.shortest,
                 "least steps of the first rung, 0 for train.steps / N^3");
  command.number("--seed", &options.seed, "seed of the search");
  add_sets(command, options.sets);
  command.option("--runs", &options.runs,
                 "directory of the runs (default: runs/NAME-sweep of the config)", "DIR");
  command.number("--jobs", &options.jobs,
                 "concurrent runs, per process of mpirun; 0 for one per processor");
  command.flag("--json", &options.json, "print JSON lines");
  add_sweep_status(command);
}

}  // namespace bochner
