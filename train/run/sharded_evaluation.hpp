#pragma once
/// An evaluation whose batches are shared among the processes of a run.

#include <bochner/train/distributed/processes.hpp>
#include <bochner/train/tasks/task.hpp>

namespace bochner {

/// As evaluate_task(), with the batches cut into shards that follow each other, whose sums are
/// joined by the tree. Nothing is returned when `should_stop` says yes to one of the processes. Of
/// the measures all know the sums, and the first process their names.
std::optional<Evaluation> evaluate_shards(Task& task, Split split, std::size_t batch,
                                          std::uint64_t limit,
                                          const std::function<bool()>& should_stop,
                                          std::size_t shards, Processes& processes);

}  // namespace bochner
