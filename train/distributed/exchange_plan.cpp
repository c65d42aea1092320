#include <algorithm>
#include <bochner/train/distributed/exchange_plan.hpp>

namespace bochner {
namespace {

constexpr std::size_t smallest_bucket = std::size_t(1) << 16, most_buckets = 32;

/// Planner of one process's steps to gather the total sum, and to spread it.
class Planner {
 public:
  Planner(const Leaves& leaves, std::size_t rank, std::size_t bucket)
      : leaves_(leaves), rank_(rank), bucket_(blocks_are_parts() ? bucket : 0) {}

  std::vector<ExchangeStep> plan() {
    join(0, leaves_.count);
    spread(holder(0, leaves_.count));
    return std::move(plan_);
  }

 private:
  /// Whether each process has the leaves of one subtree. Otherwise only the first process of a
  /// subtree may hold its sum: others would wait for messages before their last leaf.
  bool blocks_are_parts() const {
    return leaves_.count % leaves_.processes == 0 &&
           std::has_single_bit(leaves_.count / leaves_.processes);
  }

  /// Returns the process that holds the sum over first, ..., last - 1: that of its left or right
  /// part, by a bit of the bucket's number per subtree size.
  std::size_t holder(std::size_t first, std::size_t last) const {
    if (last - first == 1) return leaves_.owner(first);
    const std::size_t middle = Leaves::middle(first, last);
    return bucket_ & (middle - first) ? holder(middle, last) : holder(first, middle);
  }

  void join(std::size_t first, std::size_t last) {
    if (!leaves_.has(rank_, first, last)) return;
    if (last - first == 1) return plan_.push_back({ExchangeStep::leaf, first});
    const std::size_t middle = Leaves::middle(first, last);
    join(first, middle);
    join(middle, last);
    const std::size_t left = holder(first, middle), right = holder(middle, last),
                      here = holder(first, last), there = here == left ? right : left;
    if (rank_ == there && there != here) plan_.push_back({ExchangeStep::send, here});
    if (rank_ != here) return;
    if (there != here) plan_.push_back({ExchangeStep::receive, there});
    plan_.push_back({ExchangeStep::add});
  }

  /// Spreads the sum by a tree over the processes that begins at `root`.
  void spread(std::size_t root) {
    const std::size_t n = leaves_.processes, own = (rank_ + n - root) % n;
    for (std::size_t first = 0, last = n; last - first > 1;) {
      const std::size_t middle = Leaves::middle(first, last);
      if (own == first) plan_.push_back({ExchangeStep::share, (middle + root) % n});
      if (own == middle) plan_.push_back({ExchangeStep::receive, (first + root) % n});
      (own < middle ? last : first) = middle;
    }
  }

  Leaves leaves_;
  std::size_t rank_, bucket_;
  std::vector<ExchangeStep> plan_;
};

}  // namespace

std::vector<ExchangeStep> exchange_plan(const Leaves& leaves, std::size_t rank,
                                        std::size_t bucket) {
  return Planner(leaves, rank, bucket).plan();
}

std::size_t depth_of(const std::vector<ExchangeStep>& plan) {
  std::size_t now = 0, most = 0;
  for (const ExchangeStep& step : plan) {
    if (step.kind == ExchangeStep::leaf || step.kind == ExchangeStep::receive) ++now;
    if (step.kind == ExchangeStep::add || step.kind == ExchangeStep::send) --now;
    most = std::max(most, now);
  }
  return most;
}

Buckets::Buckets(std::size_t numbers, std::size_t bytes)
    : numbers(numbers),
      count(std::clamp<std::size_t>(numbers * bytes / smallest_bucket, 1, most_buckets)) {}

}  // namespace bochner
