#include <algorithm>
#include <bochner/train/run/sharded_evaluation.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Batches of an evaluation, and whether it was stopped among them, as sums that can be joined.
class EvaluatedBatches {
 public:
  using Sums = std::vector<double>;

  EvaluatedBatches(Task& task, Split split, std::size_t batch,
                   const std::function<bool()>& should_stop)
      : task_(task), split_(split), batch_(batch), should_stop_(should_stop) {}

  Sums sums(std::uint64_t first, std::uint64_t last) {
    Evaluation total;
    for (std::uint64_t index = first; index < last && !stopped_; ++index) {
      Tape tape;
      tape.recording = false;
      total += task_.evaluate(tape, task_.data().part(split_, index, batch_));
      stopped_ = should_stop_ && should_stop_();
    }
    if (seen_.terms == 0) seen_ = total;
    Sums sums = {double(stopped_), total.loss_sum, double(total.terms)};
    for (const Measure& measure : total.measures)
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
  Task& task_;
  Split split_;
  std::size_t batch_;
  const std::function<bool()>& should_stop_;
  bool stopped_ = false;
  Evaluation seen_;  ///< names and units
};

}  // namespace

std::optional<Evaluation> evaluate_shards(Task& task, Split split, std::size_t batch,
                                          std::uint64_t limit,
                                          const std::function<bool()>& should_stop,
                                          std::size_t shards, Processes& processes) {
  if (shards == 1) return evaluate_task(task, split, batch, limit, should_stop);
  std::uint64_t batches = task.data().batches(split, batch);
  if (limit > 0) batches = std::min(batches, limit);
  EvaluatedBatches evaluated(task, split, batch, should_stop);
  const auto first = [&](std::size_t shard) { return (batches * shard + shards - 1) / shards; };
  return evaluated.evaluation(processes.join<EvaluatedBatches::Sums>(
      shards, [&](std::size_t shard) { return evaluated.sums(first(shard), first(shard + 1)); },
      EvaluatedBatches::add));
}

}  // namespace bochner::inline BOCHNER_PRECISION
