#pragma once
/// Plans of all-reductions: how each process gets the sum over all shards, by a tree of processes
/// on top of the tree of shards, for each bucket of numbers. Their predicted time, for `bochner
/// bench scale`.

#include <bochner/train/distributed/processes.hpp>

namespace bochner {

/// Step of a process, which has a stack of partial sums.
struct ExchangeStep {
  enum Kind {
    leaf,     ///< pushes the numbers of shard `other`
    add,      ///< pops the top and adds it to the next
    send,     ///< pops and sends to process `other`
    receive,  ///< pushes a message of process `other`
    share,    ///< sends to process `other` without popping
  } kind;
  std::size_t other = 0;
  friend bool operator==(const ExchangeStep&, const ExchangeStep&) = default;
};

/// Returns the steps of process `rank`, after which its stack holds the sum over all leaves, added
/// as in the tree. Buckets are summed at different processes to balance their traffic.
std::vector<ExchangeStep> exchange_plan(const Leaves& leaves, std::size_t rank, std::size_t bucket);

std::size_t depth_of(const std::vector<ExchangeStep>& plan);

/// Division of many numbers into a few dozen messages, small so that the first leave early.
struct Buckets {
  Buckets(std::size_t numbers, std::size_t bytes);

  std::size_t begin_of(std::size_t bucket) const { return bucket * numbers / count; }

  std::size_t numbers, count;
};

/// Properties of each link, in both directions at once.
struct Network {
  double bytes_per_second = 0;
  double latency = 0;  ///< seconds until the first byte arrives

  double seconds(double bytes) const { return latency + bytes / bytes_per_second; }
};
/// Parses "10Gb,20us": bits/s in kb, Mb, Gb or Tb; ns, us, ms or s. Throws std::invalid_argument.
Network parse_network(const std::string& text);

/// Pass of one shard, whose buckets are complete before it ends.
struct ShardPassTime {
  double seconds = 0;
  std::vector<double> whole;  ///< by bucket: seconds since the pass began
};

/// Returns the seconds from the beginning of a step until all processes have the sums of all
/// buckets of these bytes: passes, and the part of the messages that they do not hide. Messages are
/// those of exchange_plan(); a link takes one after the other in each direction.
double exchange_seconds(const Leaves& leaves, const std::vector<double>& bytes,
                        const ShardPassTime& pass, const Network& network);

}  // namespace bochner
