#include <bochner/train/run/distributed_evaluation.hpp>

namespace bochner {
namespace {

/// Returns sum and number of terms of the loss, then of each measure.
std::vector<double> sums_in(const Evaluation& part) {
  std::vector<double> sums = {part.loss_sum, double(part.terms)};
  for (const Measure& measure : part.measures)
    sums.insert(sums.end(), {measure.sum, measure.terms});
  return sums;
}

/// Returns the names and units of `part` with these sums.
Evaluation with_sums(Evaluation part, const double* sums) {
  part.loss_sum = *sums++;
  part.terms = std::uint64_t(*sums++);
  for (Measure& measure : part.measures) {
    measure.sum = *sums++;
    measure.terms = *sums++;
  }
  return part;
}

}  // namespace

Evaluation evaluate_all(Task& task, Split split, std::size_t batch, Processes& processes) {
  const std::uint64_t batches = task.data().batches(split, batch);
  if (processes.size() == 1 || batches == 0) return evaluate_all(task, split, batch);
  const bool has_rest = task.data().rest(split).size() > 0;
  Evaluation seen;  // names and units
  const std::vector<double> sums = processes.gather(batches + has_rest, [&](std::size_t index) {
    Tape tape({.recording = false});
    const Dataset& data = task.data();
    seen = task.evaluate(tape, index < batches ? data.part(split, index, batch) : data.rest(split));
    return sums_in(seen);
  });
  if (seen.terms == 0 && !processes.leads()) return seen;
  const std::size_t size = 2 + 2 * seen.measures.size();
  Evaluation total;
  for (std::size_t i = 0; i < sums.size(); i += size) total += with_sums(seen, sums.data() + i);
  return total;
}

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
    own.insert(own.begin(), 0);  // number of stopped shards
    return own;
  });
  if (sums[0] > 0) return std::nullopt;
  return with_sums(seen, sums.data() + 1);
}

}  // namespace bochner
