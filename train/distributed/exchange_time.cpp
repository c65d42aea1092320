#include <algorithm>
#include <array>
#include <bochner/train/distributed/exchange_time.hpp>
#include <charconv>
#include <map>
#include <optional>
#include <stdexcept>

namespace bochner {
namespace {

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
