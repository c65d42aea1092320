#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/format.hpp>
#include <bochner/base/text.hpp>
#include <bochner/train/commands/command_line.hpp>
#include <bochner/train/run/run_directory.hpp>
#include <bochner/train/sweep/journal.hpp>
#include <cmath>
#include <set>

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
                  fmt::join(sets_of(space_of(header).variations(), trial.values), " "));
  if (!trial.steps.empty()) words += fmt::format("   step {}", trial.steps.back());
  for (std::size_t i = 0; i < header.goals.size() && !trial.measured.empty(); ++i)
    words += fmt::format(", {} {:.4g}", header.goals[i].metric, trial.measured.back()[i]);
  return trial.failed.empty() ? words : words + "   " + printable(trial.failed);
}

/// Returns the Pareto front; empty for a single goal.
std::set<std::size_t> front_of(const SweepJournal& journal) {
  if (journal.header().goals.size() == 1) return {};
  const std::vector<std::size_t> best = journal.best();
  return {best.begin(), best.end()};
}

void status_command(const StatusOptions& options) {
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
  const std::set<std::size_t> front = front_of(journal);
  for (std::size_t i = 0; i < journal.trials().size(); ++i) {
    const SweepTrial& trial = journal.trials()[i];
    const bool is_in_front = front.contains(i);
    if (options.json) {
      Json json = json_of(journal.header(), trial);
      if (is_in_front) json.set("front", true);
      fmt::print("{}\n", json.line());
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
    fmt::print("{}\n", json_of(journal.header(), best).set("run", run.string()).line());
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

}  // namespace

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

}  // namespace bochner
