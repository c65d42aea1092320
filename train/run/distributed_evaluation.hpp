#pragma once
/// Evaluation with batches divided among the processes of a run. All processes make the same call.

#include <bochner/train/distributed/processes.hpp>
#include <bochner/train/tasks/task.hpp>

namespace bochner {

/// Evaluates all examples of a split. The sums of the batches are added in their order, so the bits
/// are those of evaluate_all() in one process.
Evaluation evaluate_all(Task& task, Split split, std::size_t batch, Processes& processes);

/// Like evaluate_task(), with the batches divided into consecutive shards whose sums are added by
/// the tree of the shards. Returns nothing if `should_stop` returns true in a process. All
/// processes know the sums of the measures; only the first also knows their names.
std::optional<Evaluation> evaluate_shards(Task& task, Split split, std::size_t batch,
                                          std::uint64_t limit,
                                          const std::function<bool()>& should_stop,
                                          std::size_t shards, Processes& processes);

}  // namespace bochner
