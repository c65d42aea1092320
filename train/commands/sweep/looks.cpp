#include <fmt/format.h>

#include <algorithm>
#include <bochner/data/files/text.hpp>
#include <bochner/train/charts/format.hpp>
#include <bochner/train/commands/command_line.hpp>
#include <bochner/train/commands/sweep/page.hpp>
#include <bochner/train/run/run_directory.hpp>
#include <cmath>
#include <map>
#include <ranges>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct LookOptions {
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
                  fmt::join(sets_of(space_of(header).variations(), trial.values), " "));
  if (!trial.steps.empty()) words += fmt::format("   step {}", trial.steps.back());
  for (std::size_t i = 0; i < header.goals.size() && !trial.measured.empty(); ++i)
    words += fmt::format(", {} {:.4g}", header.goals[i].metric, trial.measured.back()[i]);
  return trial.failed.empty() ? words : words + "   " + printable(trial.failed);
}

void status_command(const LookOptions& options) {
  PosixStorage storage;
  const SweepJournal journal = SweepJournal::read(storage, options.runs);
  const auto count = [&](const char* state) {
    return std::ranges::count(journal.trials(), state,
                              [](const auto& one) { return state_of(one); });
  };
  if (!options.json)
    fmt::print("{}   {} search, {} trials in {}: {} done, {} waiting, {} failed, {} open\n",
               printable(options.runs), name_of(journal.header().search), journal.trials().size(),
               format_duration(journal.seconds()), count("done"), count("waits"), count("failed"),
               count("open"));
  for (const SweepTrial& trial : journal.trials())
    fmt::print("{}\n", options.json ? json_of(journal.header(), trial).line()
                                    : words_of(journal.header(), trial));
}

/// Trials of equal values but for their seeds, as grids have them.
using Seeds = std::vector<std::size_t>;

std::vector<Seeds> done_groups(const SweepJournal& journal, std::size_t goal) {
  const std::vector<Variation> variations = space_of(journal.header()).variations();
  const auto seed = std::ranges::find(variations, "train.seed", &Variation::key);
  std::map<Values, Seeds> groups;
  for (std::size_t i = 0; i < journal.trials().size(); ++i) {
    const SweepTrial& trial = journal.trials()[i];
    if (!trial.done || std::isnan(last_measured(trial, goal))) continue;
    Values values = trial.values;
    if (seed != variations.end()) values[std::size_t(seed - variations.begin())].clear();
    groups[values].push_back(i);
  }
  const auto all = groups | std::views::values;
  return {all.begin(), all.end()};
}

double mean_measured(const SweepJournal& journal, const Seeds& trials, std::size_t goal) {
  double sum = 0;
  for (const std::size_t index : trials) sum += last_measured(journal.trials()[index], goal);
  return sum / double(trials.size());
}

std::size_t goal_of(const SweepJournal& journal, const std::string& text) {
  const std::vector<Goal>& goals = journal.header().goals;
  const auto found = std::ranges::find(goals, text, &Goal::text);
  demand(text.empty() || found != goals.end(), "--goal {}: the goals of this sweep begin with {}",
         text, goals.front().text());
  return text.empty() ? 0 : std::size_t(found - goals.begin());
}

/// By one of several goals; over seeds by their mean.
Seeds best_by(const SweepJournal& journal, std::size_t goal) {
  const std::vector<Seeds> groups = done_groups(journal, goal);
  demand(!groups.empty(), "{}: no trial is done yet", journal.directory().string());
  return *std::ranges::min_element(groups, {}, [&](const Seeds& trials) {
    return journal.header().goals[goal].score(mean_measured(journal, trials, goal));
  });
}

void best_command(const LookOptions& options) {
  PosixStorage storage;
  const SweepJournal journal = SweepJournal::read(storage, options.runs);
  const std::size_t goal = goal_of(journal, options.goal);
  const Seeds seeds = best_by(journal, goal);
  const SweepTrial& best = journal.trials()[seeds.front()];
  const Path run = journal.directory() / best.name;
  if (options.config) {
    fmt::print("{}", RunDirectory::read(storage, run).config());
  } else if (options.json) {
    fmt::print("{}\n", json_of(journal.header(), best).set("run", run.string()).line());
  } else {
    fmt::print("{}\n", words_of(journal.header(), best));
    if (seeds.size() > 1)
      fmt::print("mean of {} seeds   {} {:.4g}\n", seeds.size(),
                 journal.header().goals[goal].metric, mean_measured(journal, seeds, goal));
  }
}

void plot_command_of_sweep(const LookOptions& options) {
  PosixStorage storage;
  const SweepJournal journal = SweepJournal::read(storage, options.runs);
  write_sweep_page(storage, journal);
  fmt::print("{}\n", sweep_page(journal.directory()).string());
}

void add_directory(const Command& command, LookOptions& options) {
  command.option("runs", &options.runs, "directory of the sweep", "DIR").required();
}

}  // namespace

void add_sweep_looks(const Command& sweep) {
  const auto [status, shown] =
      sweep.command("status", "the trials of a sweep so far", status_command);
  add_directory(status, shown);
  status.flag("--json", &shown.json, "print JSON lines");
  const auto [best, chosen] = sweep.command("best", "the best trial of a sweep", best_command);
  add_directory(best, chosen);
  best.flag("--config", &chosen.config, "print the config of its run");
  best.option("--goal", &chosen.goal, "by which of several goals (default: the first)",
              "METRIC.min");
  best.flag("--json", &chosen.json, "print JSON");
  const auto [plot, drawn] =
      sweep.command("plot", "pictures of a sweep: DIR/sweep.html", plot_command_of_sweep);
  add_directory(plot, drawn);
}

}  // namespace bochner::inline BOCHNER_PRECISION
