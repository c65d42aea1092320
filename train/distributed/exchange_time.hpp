#pragma once
/// Predicted time of an exchange between processes with a link each, for `bochner bench scale`.

#include <bochner/train/distributed/exchange_plan.hpp>
#include <string>

namespace bochner {

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
