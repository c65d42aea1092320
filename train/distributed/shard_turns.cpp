#include <algorithm>
#include <bochner/train/distributed/shard_turns.hpp>
#include <stdexcept>
#include <thread>
#include <vector>

namespace bochner {

ShardTurns::ShardTurns(Processes& processes, std::size_t shards,
                       std::function<void(std::size_t)> began, TapeObserver* observer)
    : ForwardingObserver(observer),
      processes_(processes),
      shards_(shards),
      first_(processes.leaves(shards).first_of(processes.rank())),
      last_(processes.leaves(shards).first_of(processes.rank() + 1)),
      began_(std::move(began)),
      turn_(first_),
      asked_(last_ - first_) {}

void ShardTurns::run(const std::function<void(std::size_t shard)>& body) {
  {
    std::vector<std::jthread> threads;
    try {
      for (std::size_t shard = first_ + 1; shard < last_; ++shard)
        threads.emplace_back([this, shard, &body] { run_one(shard, body); });
    } catch (...) {
      failure_ = std::current_exception();  // those that have begun give up in their turns
    }
    run_one(first_, body);
  }
  if (failure_) std::rethrow_exception(failure_);
}

void ShardTurns::run_one(std::size_t shard, const std::function<void(std::size_t)>& body) {
  try {
    wait_for_turn(shard);
    body(shard);
    ++done_;
  } catch (const Abandoned&) {
  } catch (...) {
    failure_ = std::current_exception();
  }
  pass_turn();
}

void ShardTurns::wait_for_turn(std::size_t shard) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return turn_ == shard; });
  if (failure_) throw Abandoned();
  began_(shard);
}

void ShardTurns::pass_turn() {
  const std::lock_guard lock(mutex_);
  turn_ = turn_ + 1 < last_ ? turn_ + 1 : first_;
  changed_.notify_all();
}

void ShardTurns::all_reduce(std::span<double> sums) {
  require_here(done_ == 0);
  const std::size_t shard = turn_, before = joins_;
  asked_[shard - first_] = sums;
  if (shard + 1 == last_) join_all();
  pass_turn();
  wait_for_turn(shard);
  require_here(joins_ > before);
}

void ShardTurns::require_here(bool all) {
  if (!all) throw std::logic_error("shards ask for sums at different places of their passes");
}

void ShardTurns::join_all() {
  const std::vector<double> all = processes_.sums(shards_, [&](std::size_t shard) {
    const std::span<double> own = asked_[shard - first_];
    return std::vector<double>(own.begin(), own.end());
  });
  for (const std::span<double> own : asked_) std::ranges::copy(all, own.begin());
  ++joins_;
}

}  // namespace bochner
