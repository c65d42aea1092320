#pragma once
#include <bochner/train/commands/loaded_run.hpp>
#include <bochner/train/tasks/conformal/calibration.hpp>

namespace bochner {

/// Returns what held-out examples of a run show: its calibration file if it is of this checkpoint
/// and of these weights, else by opening the data of the run. Throws IoError if they are not there.
Calibration calibration_of(const LoadedRun& run, const ModelOptions& options);

/// Throws std::invalid_argument unless 0 < level < 1.
void require_level(double level);

}  // namespace bochner
