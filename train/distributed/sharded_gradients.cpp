#include <bochner/train/distributed/sharded_gradients.hpp>
#include <stdexcept>
#include <thread>

namespace bochner {
namespace {

/// Returns distinct random numbers per shard: a step draws below 2^20, a run steps below 2^34.
PassOptions options_of(std::size_t shard, TapeObserver* observer) {
  PassOptions options;
  options.random_uses = std::uint64_t(shard) << 54;
  options.observer = observer;
  return options;
}

}  // namespace

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

ShardedGradients::ShardedGradients(std::vector<NamedParameter> parameters, std::size_t shards,
                                   bool crosses_examples, Processes& processes)
    : parameters_(std::move(parameters)),
      shards_(shards),
      crosses_shards_(crosses_examples && shards > 1),
      processes_(processes),
      first_(processes.leaves(shards).first_of(processes.rank())),
      last_(processes.leaves(shards).first_of(processes.rank() + 1)),
      exchange_(parameters_, shards, processes) {
  require(processes.size() <= shards, "train.shards", shards, " shards are too few for ",
          processes.size(), " processes");
}

ShardResult ShardedGradients::of(const ShardPass& pass, TapeObserver* observer,
                                 const std::function<StopRequests()>& stop_requests) {
  for (const NamedParameter& named : parameters_) named.parameter->zero_gradient();
  if (shards_ == 1) {
    const double loss = pass(0, options_of(0, observer));
    return {loss, stop_requests ? stop_requests() : StopRequests{}};
  }
  stop_requests_ = stop_requests;
  exchange_.begin();
  crosses_shards_ ? pass_in_turns(pass, observer) : pass_one_by_one(pass, observer);
  return exchange_.finish();
}

/// Passes one shard after the other; the last backward pass already sends finished gradients.
void ShardedGradients::pass_one_by_one(const ShardPass& pass, TapeObserver* observer) {
  for (std::size_t shard = first_; shard < last_; ++shard) {
    ExchangeWatch watch(exchange_, observer);
    const bool watched = shard + 1 == last_ && processes_.size() > 1;
    take(shard, pass(shard, options_of(shard, watched ? &watch : observer)));
  }
}

void ShardedGradients::take(std::size_t shard, double loss) {
  exchange_.take(shard,
                 {loss, shard + 1 == last_ && stop_requests_ ? stop_requests_() : StopRequests{}});
}

void ShardedGradients::pass_in_turns(const ShardPass& pass, TapeObserver* observer) {
  const std::size_t count = parameters_.size();
  std::vector<Set> aside(shards_, {std::vector<Tensor>(count), std::vector<char>(count)});
  Set* running = nullptr;
  const auto began = [&](std::size_t shard) {
    if (running == &aside[shard]) return;
    if (running) exchange(*running);
    running = &aside[shard];
    exchange(*running);
  };
  ShardTurns turns(processes_, shards_, began);
  turns.run([&](std::size_t shard) {
    PassOptions options = options_of(shard, observer);
    options.reduction = &turns;
    take(shard, pass(shard, options));
  });
}

void ShardedGradients::exchange(Set& set) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    Parameter& parameter = *parameters_[i].parameter;
    const bool had_one = parameter.has_gradient();
    std::swap(parameter.gradient(), set.gradients[i]);
    set.filled[i] ? void(gradient_place(parameter)) : parameter.zero_gradient();
    set.filled[i] = had_one;
  }
}

std::string ShardedGradients::first_problem(
    const std::function<std::string(std::size_t shard, const PassOptions&)>& pass) {
  std::string problem;
  for (std::size_t shard = first_; problem.empty() && shard < last_; ++shard)
    problem = pass(shard, options_of(shard, nullptr));
  return processes_.first_text(problem);
}

}  // namespace bochner
