#include <algorithm>
#include <bochner/train/processes/shard_turns.hpp>
#include <bochner/train/processes/sharded_gradients.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Other examples draw other numbers: a step counts its draws below 2^20, a run its steps below
/// 2^34.
PassOptions options_of(std::size_t shard, TapeObserver* observer) {
  PassOptions options;
  options.random_uses = std::uint64_t(shard) << 54;
  options.observer = observer;
  return options;
}

/// The place of a gradient that is there from now on.
real* gradient_place(Parameter& parameter) {
  Tape tape;
  return GradientTarget(tape(parameter)).data;
}

}  // namespace

ShardedGradients::ShardedGradients(std::vector<NamedParameter> parameters, std::size_t shards,
                                   bool crossing, Processes& processes)
    : parameters_(std::move(parameters)),
      shards_(shards),
      crossing_(crossing && shards > 1),
      processes_(processes),
      loop_(parameters_),
      begins_{0} {
  require(processes.size() <= shards, "train.shards", shards, " shards are too few for ",
          processes.size(), " processes");
  for (const NamedParameter& named : parameters_)
    begins_.push_back(begins_.back() + named.parameter->value().size());
}

double ShardedGradients::of(const ShardPass& pass, TapeObserver* observer) {
  for (const NamedParameter& named : parameters_) named.parameter->zero_gradient();
  if (shards_ == 1) return pass(0, options_of(0, observer));
  std::vector<double> losses(shards_);
  std::vector<Flat> gradients(shards_);
  if (crossing_) pass_in_turns(pass, observer, losses, gradients);
  const auto gradient_of = [&](std::size_t shard) {
    if (crossing_) return std::move(gradients[shard]);
    losses[shard] = pass(shard, options_of(shard, observer));
    return take();
  };
  put(processes_.join<Flat>(shards_, gradient_of,
                            [&](Flat& left, const Flat& right) { add(left, right); }));
  return processes_.join<std::vector<double>>(
      shards_, [&](std::size_t shard) { return std::vector<double>{losses[shard]}; },
      [](auto& left, const auto& right) { left[0] += right[0]; })[0];
}

void ShardedGradients::pass_in_turns(const ShardPass& pass, TapeObserver* observer,
                                     std::vector<double>& losses, std::vector<Flat>& gradients) {
  const std::size_t count = parameters_.size();
  std::vector<Set> aside(shards_, {std::vector<Tensor>(count), std::vector<char>(count)});
  Set* running = nullptr;
  const auto began = [&](std::size_t shard) {
    if (running == &aside[shard]) return;
    if (running) exchange(*running);
    running = &aside[shard];
    exchange(*running);
  };
  ShardTurns turns(processes_, shards_, began, observer);
  turns.run([&](std::size_t shard) {
    losses[shard] = pass(shard, options_of(shard, &turns));
    gradients[shard] = take();
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

ShardedGradients::Flat ShardedGradients::take() {
  Flat flat(begins_.back() + parameters_.size());
  loop_([&](std::size_t index, std::size_t begin, std::size_t end) {
    const Parameter& parameter = *parameters_[index].parameter;
    if (parameter.has_gradient())
      std::copy(parameter.gradient().data() + begin, parameter.gradient().data() + end,
                flat.data() + begins_[index] + begin);
  });
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    flat[begins_.back() + i] = real(parameters_[i].parameter->has_gradient());
    parameters_[i].parameter->zero_gradient();
  }
  return flat;
}

void ShardedGradients::put(const Flat& flat) {
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (flat[begins_.back() + i] != 0)
      std::copy(flat.data() + begins_[i], flat.data() + begins_[i + 1],
                gradient_place(*parameters_[i].parameter));
}

void ShardedGradients::add(Flat& left, const Flat& right) const {
  const real* in_right = right.data() + begins_.back();
  real* in_left = left.data() + begins_.back();
  loop_([&](std::size_t index, std::size_t begin, std::size_t end) {
    if (in_right[index] == 0) return;
    real* to = left.data() + begins_[index];
    const real* from = right.data() + begins_[index];
    if (in_left[index] == 0) {
      std::copy(from + begin, from + end, to + begin);
    } else {
      for (std::size_t i = begin; i < end; ++i) to[i] += from[i];
    }
  });
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (in_right[i] != 0) in_left[i] = 1;
}

std::string ShardedGradients::first_problem(
    const std::function<std::string(std::size_t shard, const PassOptions&)>& pass) {
  const Leaves leaves = processes_.leaves(shards_);
  const std::size_t end = leaves.first_of(processes_.rank() + 1);
  std::string problem;
  for (std::size_t shard = leaves.first_of(processes_.rank()); problem.empty() && shard < end;
       ++shard)
    problem = pass(shard, options_of(shard, nullptr));
  return processes_.first_text(problem);
}

}  // namespace bochner::inline BOCHNER_PRECISION
