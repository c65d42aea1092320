#pragma once
#include <bochner/train/tasks/conformal/calibration.hpp>
#include <bochner/train/tasks/task.hpp>

namespace bochner {

/// Returns what held-out examples of a task show. Throws std::invalid_argument if its model has no
/// intervals or sets, or there are no held-out examples.
Calibration calibrate(const Config& config, Task& task);
/// Returns whether calibrate() is a single pass over validation examples, or less.
bool calibrates_quickly(const Config& config, Task& task);

/// Returns how often intervals or sets of a level hold in a split; see Calibrates::coverage().
CoverageReport coverage_of(const Calibration& calibration, Task& task, Split split, double level,
                           std::size_t stride);

}  // namespace bochner
