#include <bochner/train/distributed/shard_turns.hpp>
#include <bochner/train/distributed/sharded_gradients.hpp>

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
