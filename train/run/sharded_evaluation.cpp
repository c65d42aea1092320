#include <algorithm>
#include <bochner/train/run/sharded_evaluation.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Evaluations of shards, and whether one was stopped, as sums that can be joined.
class EvaluatedShards {
 public:
  using Sums = std::vector<double>;

  Sums sums(const std::optional<Evaluation>& shard) {
    if (!shard) return {1};
    if (seen_.terms == 0) seen_ = *shard;
    Sums sums = {0, shard->loss_sum, double(shard->terms)};
    for (const Measure& measure : shard->measures)
      sums.insert(sums.end(), {measure.sum, measure.terms});
    return sums;
  }

  /// A shard without batches has no measures.
  static void add(Sums& left, const Sums& right) {
    left.resize(std::max(left.size(), right.size()));
    for (std::size_t i = 0; i < right.size(); ++i) left[i] += right[i];
  }

  std::optional<Evaluation> evaluation(const Sums& sums) const {
    if (sums[0] > 0) return std::nullopt;
    Evaluation all = seen_;
    all.loss_sum = sums[1];
    all.terms = std::uint64_t(sums[2]);
    for (std::size_t i = 0; i < all.measures.size(); ++i) {
      all.measures[i].sum = sums[3 + 2 * i];
      all.measures[i].terms = sums[4 + 2 * i];
    }
    return all;
  }

 private:
  Evaluation seen_;  ///< names and units
};

}  // namespace

std::optional<Evaluation> evaluate_shards(Task& task, Split split, std::size_t batch,
                                          std::uint64_t limit,
                                          const std::function<bool()>& should_stop,
                                          std::size_t shards, Processes& processes) {
  if (shards == 1) return evaluate_task(task, split, batch, limit, should_stop);
  const std::uint64_t batches = evaluated_batches(task.data(), split, batch, limit);
  const auto first = [&](std::size_t shard) { return (batches * shard + shards - 1) / shards; };
  EvaluatedShards evaluated;
  bool stopped = false;
  const auto sums = [&](std::size_t shard) {
    std::optional<Evaluation> part;
    if (!stopped)
      part = evaluate_batches(task, split, batch, first(shard), first(shard + 1), should_stop);
    stopped = !part;
    return evaluated.sums(part);
  };
  return evaluated.evaluation(
      processes.join<EvaluatedShards::Sums>(shards, sums, EvaluatedShards::add));
}

}  // namespace bochner::inline BOCHNER_PRECISION
