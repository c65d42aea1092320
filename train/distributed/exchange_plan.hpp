#pragma once
/// What each process does to get the sum over all shards: the tree of the processes on top of the
/// tree of the shards, for one bucket of numbers after the other.

#include <bochner/train/distributed/processes.hpp>

namespace bochner {

/// One step of a process, which has a stack of partial sums.
struct ExchangeStep {
  enum Kind {
    leaf,     ///< pushes what the shard `other` has
    add,      ///< adds the upper one of two to the lower one
    send,     ///< to process `other`, and takes it from the stack
    receive,  ///< pushes what process `other` has
    share,    ///< sends to process `other` and keeps
  } kind;
  std::size_t other = 0;
  friend bool operator==(const ExchangeStep&, const ExchangeStep&) = default;
};

/// The steps of process `rank`, after which its stack holds the sum over all leaves. Buckets with
/// other numbers come together at other processes, so that none has to send and receive more than
/// the others; additions are those of the tree in all of them.
std::vector<ExchangeStep> exchange_plan(const Leaves& leaves, std::size_t rank, std::size_t bucket);

/// The most that a stack holds.
std::size_t depth_of(const std::vector<ExchangeStep>& plan);

/// Parts of many numbers, each of which is a message: small ones, of which the first are on their
/// way soon, but no more than a few dozens.
struct Buckets {
  /// Of so many numbers of so many bytes.
  Buckets(std::size_t numbers, std::size_t bytes);

  std::size_t begin_of(std::size_t bucket) const { return bucket * numbers / count; }

  std::size_t numbers, count;
};

}  // namespace bochner
