#include <array>
#include <bochner/train/distributed/exchange_plan.hpp>
#include <charconv>
#include <map>
#include <stdexcept>

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

struct Unit {
  const char* name;
  double factor;
};

/// Parses a positive number with a unit; nothing if it is invalid.
std::optional<double> quantity(std::string_view text, std::initializer_list<Unit> units) {
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view name(rest, std::size_t(text.data() + text.size() - rest));
  for (const Unit& unit : units)
    if (error == std::errc() && number > 0 && name == unit.name) return number * unit.factor;
  return std::nullopt;
}

/// Simulation of the messages of all processes and buckets in order of time.
class Simulation {
 public:
  Simulation(const Leaves& leaves, const std::vector<double>& bytes, const ShardPassTime& pass,
             const Network& network)
      : leaves_(leaves),
        bytes_(bytes),
        pass_(pass),
        network_(network),
        out_(leaves.processes),
        in_(leaves.processes) {
    for (std::size_t rank = 0; rank < leaves.processes; ++rank)
      for (std::size_t bucket = 0; bucket < bytes.size(); ++bucket)
        runs_.push_back({rank, bucket, exchange_plan(leaves, rank, bucket)});
  }

  double run() {
    while (true) {
      for (Run& run : runs_) advance(run);
      Run* next = nullptr;
      for (Run& run : runs_)
        if (!run.is_done() && begins_message(run.step()) &&
            (!next || start_of(run) < start_of(*next)))
          next = &run;
      if (!next) break;
      send(*next);
    }
    double end = 0;
    for (const Run& run : runs_) end = std::max(end, run.time);
    return end;
  }

 private:
  /// Plan of one process for one bucket, and the time of its progress.
  struct Run {
    std::size_t rank, bucket;
    std::vector<ExchangeStep> plan;
    std::size_t next = 0;
    double time = 0;
    bool is_done() const { return next == plan.size(); }
    const ExchangeStep& step() const { return plan[next]; }
  };

  static bool begins_message(const ExchangeStep& step) {
    return step.kind == ExchangeStep::send || step.kind == ExchangeStep::share;
  }

  /// Returns when the pass of a shard, or its last part that the bucket needs, ends.
  double whole_at(const Run& run, std::size_t shard) const {
    const std::size_t first = leaves_.first_of(run.rank), last = leaves_.first_of(run.rank + 1);
    const double begun = double(shard - first) * pass_.seconds;
    return begun + (shard + 1 == last ? pass_.whole[run.bucket] : pass_.seconds);
  }

  /// Advances up to a message that it begins, or that has not been sent yet.
  void advance(Run& run) {
    for (; !run.is_done() && !begins_message(run.step()); ++run.next) {
      const ExchangeStep& step = run.step();
      if (step.kind == ExchangeStep::leaf) run.time = std::max(run.time, whole_at(run, step.other));
      if (step.kind != ExchangeStep::receive) continue;
      std::vector<double>& arrived = arrivals_[{step.other, run.rank, run.bucket}];
      if (arrived.empty()) return;
      run.time = std::max(run.time, arrived.front());
      arrived.erase(arrived.begin());
    }
  }

  double start_of(const Run& run) const {
    return std::max({run.time, out_[run.rank], in_[run.step().other]});
  }

  void send(Run& run) {
    const ExchangeStep step = run.step();
    const double taken = start_of(run) + bytes_[run.bucket] / network_.bytes_per_second;
    out_[run.rank] = in_[step.other] = taken;
    arrivals_[{run.rank, step.other, run.bucket}].push_back(taken + network_.latency);
    if (step.kind == ExchangeStep::send) run.time = taken;
    ++run.next;
  }

  Leaves leaves_;
  const std::vector<double>& bytes_;
  const ShardPassTime& pass_;
  Network network_;
  std::vector<double> out_, in_;  ///< by process: until when its link is busy
  std::map<std::array<std::size_t, 3>, std::vector<double>> arrivals_;
  std::vector<Run> runs_;
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

Network parse_network(const std::string& text) {
  const std::size_t comma = std::min(text.find(','), text.size());
  const auto bits = quantity(std::string_view(text).substr(0, comma),
                             {{"kb", 1e3}, {"Mb", 1e6}, {"Gb", 1e9}, {"Tb", 1e12}});
  const auto latency = quantity(std::string_view(text).substr(std::min(comma + 1, text.size())),
                                {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}});
  if (!bits || !latency)
    throw std::invalid_argument("--network " + text +
                                ": must be bits per second and a latency, such as 10Gb,20us");
  return {*bits / 8, *latency};
}

double exchange_seconds(const Leaves& leaves, const std::vector<double>& bytes,
                        const ShardPassTime& pass, const Network& network) {
  return Simulation(leaves, bytes, pass, network).run();
}

}  // namespace bochner
