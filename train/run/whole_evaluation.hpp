#pragma once
/// The evaluation of all of a split, shared among processes.

#include <bochner/train/distributed/processes.hpp>
#include <bochner/train/tasks/task.hpp>

namespace bochner {

/// As evaluate_all() of one process alone, to the bit: its batches are shared out, and their sums
/// added in their order. For all processes.
Evaluation evaluate_all(Task& task, Split split, std::size_t batch, Processes& processes);

}  // namespace bochner
