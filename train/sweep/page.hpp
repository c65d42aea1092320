#pragma once
#include <bochner/train/sweep/journal.hpp>

namespace bochner {

/// Returns DIR/sweep.html.
Path sweep_page(const Path& directory);
/// Writes the page: the best trials, the values and scores of all, the importance of the keys, the
/// curves of all runs, and early stops.
void write_sweep_page(FileStorage& storage, const SweepJournal& journal);

/// Returns the state of a trial: "done", "waits", "failed" or "open".
std::string state_of(const SweepTrial& trial);
Space space_of(const SweepHeader& header);
/// Returns the number for a goal at the last rung that the trial reached; NaN if it reached none.
double last_measured(const SweepTrial& trial, std::size_t goal = 0);

}  // namespace bochner
