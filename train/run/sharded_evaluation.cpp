#include <bochner/train/run/evaluation_sums.hpp>
#include <bochner/train/run/sharded_evaluation.hpp>

namespace bochner {

std::optional<Evaluation> evaluate_shards(Task& task, Split split, std::size_t batch,
                                          std::uint64_t limit,
                                          const std::function<bool()>& should_stop,
                                          std::size_t shards, Processes& processes) {
  if (shards == 1) return evaluate_task(task, split, batch, limit, should_stop);
  const TakenBatches taken = evaluated_batches(task.data(), split, batch, limit);
  const auto first = [&](std::size_t shard) { return ceil_div(taken.count * shard, shards); };
  Evaluation seen;  // names and units
  bool stopped = false;
  const std::vector<double> sums = processes.sums(shards, [&](std::size_t shard) {
    std::optional<Evaluation> part;
    if (!stopped)
      part =
          evaluate_batches(task, split, batch, taken, first(shard), first(shard + 1), should_stop);
    stopped = !part;
    if (stopped) return std::vector<double>{1};
    if (seen.terms == 0) seen = *part;
    std::vector<double> own = sums_in(*part);
    own.insert(own.begin(), 0);  // of shards that were stopped
    return own;
  });
  if (sums[0] > 0) return std::nullopt;
  return with_sums(seen, sums.data() + 1);
}

}  // namespace bochner
