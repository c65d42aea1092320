#pragma once
/// Runner of a sweep: trains each trial in a separate process.

#include <bochner/train/sweep/grid.hpp>
#include <bochner/train/sweep/journal.hpp>
#include <bochner/train/sweep/workers.hpp>

namespace bochner {

struct SweepPlan {
  std::string config;             ///< file
  std::vector<std::string> sets;  ///< for all trials
  Space space;
  std::vector<GridPoint> points = {};  ///< of a grid, in this order
  std::size_t most_trials = 0;
  JobShare share;                                           ///< of this process
  double budget = std::numeric_limits<double>::infinity();  ///< seconds, over all calls
  bool json = false;
};

/// Checks the trials of the journal and reports those that are done; then runs until all is tried
/// or it must stop, and reports each trial's end; other processes help. Returns the exit code.
/// Throws IoError if a trial of a search could not write.
int run_trials(FileStorage& storage, const SweepPlan& plan, SweepJournal& journal,
               SignalGuard& signals, Processes& processes);

}  // namespace bochner
