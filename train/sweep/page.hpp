#pragma once
#include <bochner/train/sweep/journal.hpp>

namespace bochner {

/// DIR/sweep.html
Path sweep_page(const Path& directory);
/// Writes it: what is best, the values of all trials and their scores, which keys matter, the
/// curves of all runs, and what was stopped when.
void write_sweep_page(FileStorage& storage, const SweepJournal& journal);

/// The state of a trial in a word: "done", "waits", "failed" or "open".
std::string state_of(const SweepTrial& trial);
/// The space that was searched, as the journal says.
Space space_of(const SweepHeader& header);
/// The number for a goal at the last rung that the trial reached; NaN of none.
double last_measured(const SweepTrial& trial, std::size_t goal = 0);

}  // namespace bochner
