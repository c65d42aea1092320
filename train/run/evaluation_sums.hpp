#pragma once
/// An evaluation as numbers that processes give each other.

#include <bochner/train/tasks/task.hpp>

namespace bochner {

/// Sum and terms of the loss, and then of each measure.
std::vector<double> sums_in(const Evaluation& part);
/// The same with other sums, as many as it has.
Evaluation with_sums(Evaluation part, const double* sums);

}  // namespace bochner
