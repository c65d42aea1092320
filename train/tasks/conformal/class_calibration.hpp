#pragma once
/// Sets of classes that hold the right one with a given probability, whichever it is.

#include <bochner/train/tasks/conformal/calibration.hpp>
#include <bochner/train/tasks/task.hpp>

namespace bochner {

/// Returns the scores of up to 2,000 validation examples. A model that is fitted at once and has
/// none is fitted five more times, each without a random fifth of its examples. Throws
/// std::invalid_argument for other models without validation examples.
Calibration calibrate_classes(const Config& config, Task& task, PredictsClasses& model);

/// Returns how often sets of classes hold the right one: of all examples by fixed and by adaptive
/// bounds, then by class with fixed ones.
CoverageReport class_coverage(const Calibration& calibration, Task& task, PredictsClasses& model,
                              Split split, double level);

/// Appends a column in_set_CLASS of zeros and ones for each column of probabilities, whose name is
/// the prefix and the class.
NamedArray with_class_sets(const NamedArray& answer, const std::string& prefix,
                           const Calibration& calibration, double level);

}  // namespace bochner
