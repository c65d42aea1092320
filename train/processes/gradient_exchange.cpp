#include <algorithm>
#include <bochner/train/processes/gradient_exchange.hpp>
#include <chrono>
#include <cstring>
#include <numeric>
#include <stdexcept>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t result_size = sizeof(ShardResult) / sizeof(real);
static_assert(sizeof(ShardResult) % sizeof(real) == 0);

ShardResult result_at(const real* place) {
  ShardResult result;
  std::memcpy(static_cast<void*>(&result), place, sizeof result);
  return result;
}

void add_results(real* left, const real* right) {
  ShardResult sum = result_at(left);
  const ShardResult other = result_at(right);
  sum.loss += other.loss;
  for (std::size_t i = 0; i < sum.wishes.size(); ++i)
    sum.wishes[i] = std::max(sum.wishes[i], other.wishes[i]);
  std::memcpy(left, &sum, sizeof sum);
}

}  // namespace

real* gradient_place(Parameter& parameter) {
  Tape tape;
  return GradientTarget(tape(parameter)).data;
}

GradientExchange::GradientExchange(std::vector<NamedParameter> parameters, std::size_t shards,
                                   Processes& processes)
    : parameters_(std::move(parameters)),
      leaves_(processes.leaves(shards)),
      processes_(processes),
      is_noted_(parameters_.size()),
      learned_(processes.size() == 1) {
  // Until it is known better: the last ones of a model are used last, and done first.
  std::vector<std::size_t> order(parameters_.size());
  std::iota(order.rbegin(), order.rend(), std::size_t(0));
  cut(std::move(order));
}

/// Makes the buckets, the last of which ends with the result of the shard.
void GradientExchange::cut(std::vector<std::size_t> order) {
  order_ = std::move(order);
  std::vector<std::size_t> bytes;
  for (const std::size_t index : order_)
    bytes.push_back(parameters_[index].parameter->value().size() * sizeof(real));
  const std::vector<std::size_t> ends =
      leaves_.processes == 1 ? std::vector<std::size_t>{order_.size()} : bucket_ends(bytes);
  buckets_.clear();
  for (const std::size_t end : ends) add_bucket(end);
  buckets_.back().end += result_size;
  depth_ = 0;
  for (const Bucket& bucket : buckets_) depth_ = std::max(depth_, depth_of(bucket.plan));
}

/// Of the parameters up to this one in their order that are in none yet.
void GradientExchange::add_bucket(std::size_t end) {
  const std::size_t begin = buckets_.empty() ? 0 : buckets_.back().last_in_order;
  Bucket bucket;
  bucket.begins = {buckets_.empty() ? 0 : buckets_.back().end};
  std::vector<NamedParameter> own;
  for (std::size_t i = begin; i < end; ++i) {
    own.push_back(parameters_[order_[i]]);
    bucket.parameters.push_back(order_[i]);
    bucket.begins.push_back(bucket.begins.back() + own.back().parameter->value().size());
  }
  bucket.loop = FlatLoop(own);
  bucket.end = bucket.begins.back() + own.size();
  bucket.last_in_order = end;
  bucket.plan = exchange_plan(leaves_, processes_.rank(), buckets_.size());
  buckets_.push_back(std::move(bucket));
  buckets_.back().channel = buckets_.size();
}

void GradientExchange::begin() {
  slots_.clear();
  for (std::size_t i = 0; i < depth_; ++i) slots_.push_back(uninitialized({buckets_.back().end}));
  for (Bucket& bucket : buckets_) bucket.next = bucket.depth = bucket.taken = 0;
  finished_ = 0;
  passed_ = leaves_.first_of(processes_.rank());
}

void GradientExchange::look() {
  if (!learned_) note_finished();
  while (finished_ < order_.size() && !is_awaited(order_[finished_])) ++finished_;
  advance_all();
}

void GradientExchange::note_finished() {
  for (std::size_t index = parameters_.size(); index-- > 0;) {
    if (is_noted_[index] || is_awaited(index)) continue;
    is_noted_[index] = true;
    noted_.push_back(index);
  }
}

/// That of the first process, for all.
void GradientExchange::learn_order() {
  for (std::size_t index = parameters_.size(); index-- > 0;)
    if (!is_noted_[index]) noted_.push_back(index);
  processes_.share(noted_);
  cut(std::move(noted_));
  learned_ = true;
}

/// Of the last shard, a bucket need not wait for the end of the pass, but for the last one, which
/// tells the result.
bool GradientExchange::is_ready(const Bucket& bucket, std::size_t shard) const {
  if (shard < passed_) return true;
  const bool is_last = shard + 1 == leaves_.first_of(processes_.rank() + 1);
  return is_last && shard == passed_ && finished_ >= bucket.last_in_order &&
         &bucket != &buckets_.back();
}

void GradientExchange::advance_all() {
  for (Bucket& bucket : buckets_)
    while (!bucket.is_done() && advance(bucket, bucket.plan[bucket.next])) ++bucket.next;
}

/// False where it cannot be done yet.
bool GradientExchange::advance(Bucket& bucket, const ExchangeStep& step) {
  switch (step.kind) {
    case ExchangeStep::leaf:
      if (!is_ready(bucket, step.other)) return false;
      take_leaf(bucket, slot(bucket.depth++));
      ++bucket.taken;
      return true;
    case ExchangeStep::add:
      --bucket.depth;
      add(bucket, slot(bucket.depth - 1), slot(bucket.depth));
      return true;
    case ExchangeStep::send:
      if (!is_over(bucket, step)) return false;
      --bucket.depth;
      return true;
    case ExchangeStep::receive:
      if (!is_over(bucket, step)) return false;
      ++bucket.depth;
      return true;
    case ExchangeStep::share:
      shared_.push_back(begin_send(bucket, step.other));
      return true;
  }
  return true;
}

/// Begins a message of the bucket, unless it is under way.
bool GradientExchange::is_over(Bucket& bucket, const ExchangeStep& step) {
  if (!bucket.ticket)
    bucket.ticket = step.kind == ExchangeStep::send ? begin_send(bucket, step.other)
                                                    : begin_receive(bucket, step.other);
  if (!processes_.transport().is_over(*bucket.ticket)) return false;
  bucket.ticket.reset();
  return true;
}

Transport::Ticket GradientExchange::begin_send(const Bucket& bucket, std::size_t to) {
  ++cost_.messages;
  cost_.bytes += bucket.bytes();
  return processes_.transport().begin_send(
      to, bucket.channel, slot(bucket.depth - 1) + bucket.begins.front(), bucket.bytes());
}

Transport::Ticket GradientExchange::begin_receive(const Bucket& bucket, std::size_t from) {
  return processes_.transport().begin_receive(
      from, bucket.channel, slot(bucket.depth) + bucket.begins.front(), bucket.bytes());
}

void GradientExchange::take_leaf(const Bucket& bucket, real* to) {
  const auto parameter = [&](std::size_t i) -> Parameter& {
    return *parameters_[bucket.parameters[i]].parameter;
  };
  bucket.loop([&](std::size_t i, std::size_t begin, std::size_t end) {
    if (parameter(i).has_gradient())
      std::copy(parameter(i).gradient().data() + begin, parameter(i).gradient().data() + end,
                to + bucket.begins[i] + begin);
  });
  for (std::size_t i = 0; i < bucket.parameters.size(); ++i) {
    to[bucket.begins.back() + i] = real(parameter(i).has_gradient());
    parameter(i).zero_gradient();
  }
  if (&bucket == &buckets_.back())
    std::memcpy(to + bucket.end - result_size, &result_, sizeof result_);
}

void GradientExchange::add(const Bucket& bucket, real* left, const real* right) const {
  real* in_left = left + bucket.begins.back();
  const real* in_right = right + bucket.begins.back();
  bucket.loop([&](std::size_t i, std::size_t begin, std::size_t end) {
    if (in_right[i] == 0) return;
    real* to = left + bucket.begins[i];
    const real* from = right + bucket.begins[i];
    if (in_left[i] == 0) {
      std::copy(from + begin, from + end, to + begin);
    } else {
      for (std::size_t element = begin; element < end; ++element) to[element] += from[element];
    }
  });
  for (std::size_t i = 0; i < bucket.parameters.size(); ++i)
    if (in_right[i] != 0) in_left[i] = 1;
  if (&bucket == &buckets_.back())
    add_results(left + bucket.end - result_size, right + bucket.end - result_size);
}

void GradientExchange::put(const Bucket& bucket) {
  const real* sums = slot(0);
  for (std::size_t i = 0; i < bucket.parameters.size(); ++i)
    if (sums[bucket.begins.back() + i] != 0)
      std::copy(sums + bucket.begins[i], sums + bucket.begins[i + 1],
                gradient_place(*parameters_[bucket.parameters[i]].parameter));
}

void GradientExchange::take(std::size_t shard, const ShardResult& result) {
  result_ = result;
  passed_ = shard + 1;
  const std::size_t passes = passed_ - leaves_.first_of(processes_.rank());
  wait_until([&] {
    return std::ranges::all_of(buckets_,
                               [&](const Bucket& bucket) { return bucket.taken >= passes; });
  });
  for (const NamedParameter& named : parameters_)
    if (named.parameter->has_gradient())
      throw std::logic_error("the gradient of " + named.name + " was sent before it was whole");
}

ShardResult GradientExchange::finish() {
  wait_until([&] { return std::ranges::all_of(buckets_, &Bucket::is_done) && all_sent(); });
  for (const Bucket& bucket : buckets_) put(bucket);
  const ShardResult all = result_at(slot(0) + buckets_.back().end - result_size);
  slots_.clear();
  if (!learned_) learn_order();
  return all;
}

bool GradientExchange::all_sent() {
  std::erase_if(shared_,
                [&](Transport::Ticket ticket) { return processes_.transport().is_over(ticket); });
  return shared_.empty();
}

void GradientExchange::wait_until(const std::function<bool()>& condition) {
  const auto start = std::chrono::steady_clock::now();
  Patience patience;
  for (advance_all(); !condition(); advance_all()) patience.rest();
  cost_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<std::size_t> GradientExchange::bucket_bytes() const {
  std::vector<std::size_t> bytes;
  for (const Bucket& bucket : buckets_) bytes.push_back(bucket.bytes());
  return bytes;
}

}  // namespace bochner::inline BOCHNER_PRECISION
