#include <algorithm>
#include <bochner/train/distributed/shard_turns.hpp>
#include <stdexcept>
#include <thread>

namespace bochner {

ShardTurns::ShardTurns(Processes& processes, std::size_t shards,
                       std::function<void(std::size_t)> began)
    : processes_(processes),
      shards_(shards),
      first_(processes.leaves(shards).first_of(processes.rank())),
      last_(processes.leaves(shards).first_of(processes.rank() + 1)),
      began_(std::move(began)),
      turn_(first_),
      sums_(last_ - first_) {}

void ShardTurns::run(const std::function<void(std::size_t shard)>& body) {
  {
    std::vector<std::jthread> threads;
    try {
      for (std::size_t shard = first_ + 1; shard < last_; ++shard)
        threads.emplace_back([this, shard, &body] { run_one(shard, body); });
    } catch (...) {
      failure_ = std::current_exception();  // started threads end at their turns
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
  const std::size_t shard = turn_, before = reductions_;
  bool all_are_here = done_ == 0;
  if (all_are_here) {
    sums_[shard - first_] = sums;
    if (shard + 1 == last_) add_up();
    pass_turn();
    wait_for_turn(shard);
    all_are_here = reductions_ > before;
  }
  if (!all_are_here) throw std::logic_error("shards reduce at different places of their passes");
}

void ShardTurns::add_up() {
  const std::vector<double> all = processes_.sums(shards_, [&](std::size_t shard) {
    const std::span<double> own = sums_[shard - first_];
    return std::vector<double>(own.begin(), own.end());
  });
  for (const std::span<double> own : sums_) std::ranges::copy(all, own.begin());
  ++reductions_;
}

}  // namespace bochner
