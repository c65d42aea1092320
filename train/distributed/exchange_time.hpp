#pragma once
/// How long an exchange takes between processes of which each has a link of its own: what `bochner
/// bench scale` predicts from.

#include <bochner/train/distributed/exchange_plan.hpp>
#include <string>

namespace bochner {

/// Of each link, both ways at once.
struct Network {
  double bytes_per_second = 0;
  double latency = 0;  ///< seconds until the first byte is there

  double seconds(double bytes) const { return latency + bytes / bytes_per_second; }
};
/// "10Gb,20us": bits a second in kb, Mb, Gb or Tb, and a latency in ns, us, ms or s. Throws
/// std::invalid_argument.
Network parse_network(const std::string& text);

/// The pass of one shard, whose buckets are whole before it ends.
struct ShardPassTime {
  double seconds = 0;
  std::vector<double> whole;  ///< of each bucket, in seconds since the pass began
};

/// Seconds from the beginning of a step until all processes have the sums of all buckets, of these
/// bytes: passes, and what of the messages they do not hide. Messages are those of
/// exchange_plan(); a link takes one after the other in each direction.
double exchange_seconds(const Leaves& leaves, const std::vector<double>& bytes,
                        const ShardPassTime& pass, const Network& network);

}  // namespace bochner
