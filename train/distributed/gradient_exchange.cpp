#include <bochner/train/distributed/gradient_exchange.hpp>
#include <cstring>
#include <numeric>
#include <stdexcept>

namespace bochner {
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
  sum.stop_requests = merged(sum.stop_requests, other.stop_requests);
  std::memcpy(left, &sum, sizeof sum);
}

}  // namespace

StopRequests merged(const StopRequests& left, const StopRequests& right) {
  return {std::max(left.signal, right.signal), left.time_is_up || right.time_is_up,
          left.save || right.save};
}

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
  // Initial order: the last parameters of a model are used last, and finished first.
  std::vector<std::size_t> order(parameters_.size());
  std::iota(order.rbegin(), order.rend(), std::size_t(0));
  cut(std::move(order));
}

/// Makes the buckets; the last ends with the shard's result.
void GradientExchange::cut(std::vector<std::size_t> order) {
  order_ = std::move(order);
  std::vector<NamedParameter> ordered;
  for (const std::size_t index : order_) ordered.push_back(parameters_[index]);
  loop_ = FlatLoop(ordered);
  untaken_.assign(order_.size(), 0);
  Buckets buckets(loop_.size(), sizeof(real));
  if (leaves_.processes == 1) buckets.count = 1;
  buckets_.clear();
  for (std::size_t i = 0; i < buckets.count; ++i)
    add_bucket(buckets.begin_of(i), buckets.begin_of(i + 1));
  buckets_.back().end += result_size;
  depth_ = 0;
  for (const Bucket& bucket : buckets_) depth_ = std::max(depth_, depth_of(bucket.plan));
}

void GradientExchange::add_bucket(std::size_t first, std::size_t last) {
  const std::size_t number = buckets_.size(), place = number == 0 ? 0 : buckets_.back().end;
  std::size_t first_tensor = number == 0 ? 0 : buckets_.back().first_tensor;
  while (first_tensor < order_.size() && loop_.offset_of(first_tensor) < first &&
         loop_.offset_of(first_tensor) + loop_.size_of(first_tensor) <= first)
    ++first_tensor;
  std::size_t last_tensor = first_tensor;
  while (last_tensor < order_.size() &&
         (loop_.offset_of(last_tensor) < last || last == loop_.size()))
    ++last_tensor;
  buckets_.push_back({first, last, first_tensor, last_tensor, place,
                      place + last - first + last_tensor - first_tensor, number + 1,
                      exchange_plan(leaves_, processes_.rank(), number)});
}

void GradientExchange::begin() {
  slots_.clear();
  await_all();
  for (std::size_t i = 0; i < depth_; ++i) slots_.push_back(uninitialized({buckets_.back().end}));
  for (Bucket& bucket : buckets_) bucket.next = bucket.depth = bucket.taken = 0;
  finished_ = 0;
  passed_ = leaves_.first_of(processes_.rank());
}

void GradientExchange::look() {
  if (!learned_) note_finished();
  while (finished_ < order_.size() && !is_in_use(order_[finished_])) ++finished_;
  advance_all();
}

void GradientExchange::note_finished() {
  for (std::size_t index = parameters_.size(); index-- > 0;) {
    if (is_noted_[index] || is_in_use(index)) continue;
    is_noted_[index] = true;
    noted_.push_back(index);
  }
}

/// Gives all processes the first one's order.
void GradientExchange::learn_order() {
  for (std::size_t index = parameters_.size(); index-- > 0;)
    if (!is_noted_[index]) noted_.push_back(index);
  processes_.share(noted_);
  cut(std::move(noted_));
  learned_ = true;
}

/// Whether a bucket is complete. For the last shard, buckets need not wait for the end of the pass,
/// except the last, which has the result.
bool GradientExchange::is_ready(const Bucket& bucket, std::size_t shard) const {
  if (shard < passed_) return true;
  const bool is_last = shard + 1 == leaves_.first_of(processes_.rank() + 1);
  return is_last && shard == passed_ && finished_ >= bucket.last_tensor &&
         &bucket != &buckets_.back();
}

void GradientExchange::advance_all() {
  for (Bucket& bucket : buckets_)
    while (!bucket.is_done() && advance(bucket, bucket.plan[bucket.next])) ++bucket.next;
}

/// Does a step; returns false if it must wait.
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
      if (has_leaf_behind(bucket)) {
        send_copy(bucket, step.other);
      } else if (!is_over(bucket, step)) {
        return false;
      }
      --bucket.depth;
      return true;
    case ExchangeStep::receive:
      if (!is_over(bucket, step)) return false;
      ++bucket.depth;
      return true;
    case ExchangeStep::share:
      shared_.push_back(begin_send(bucket, step.other, top(bucket)));
      return true;
  }
  return true;
}

bool GradientExchange::has_leaf_behind(const Bucket& bucket) {
  return std::any_of(bucket.plan.begin() + std::ptrdiff_t(bucket.next), bucket.plan.end(),
                     [](const ExchangeStep& step) { return step.kind == ExchangeStep::leaf; });
}

/// Sends a copy, so that the next pass need not wait for a late receiver.
void GradientExchange::send_copy(const Bucket& bucket, std::size_t to) {
  Tensor& copy = copies_.emplace_back(uninitialized({bucket.end - bucket.place}));
  std::copy_n(top(bucket), copy.size(), copy.data());
  shared_.push_back(begin_send(bucket, to, copy.data()));
}

/// Begins a message of the bucket, unless one is in flight; returns whether it is over.
bool GradientExchange::is_over(Bucket& bucket, const ExchangeStep& step) {
  if (!bucket.ticket)
    bucket.ticket = step.kind == ExchangeStep::send ? begin_send(bucket, step.other, top(bucket))
                                                    : begin_receive(bucket, step.other);
  if (!processes_.transport().is_over(*bucket.ticket)) return false;
  bucket.ticket.reset();
  return true;
}

Transport::Ticket GradientExchange::begin_send(const Bucket& bucket, std::size_t to,
                                               const real* data) {
  ++cost_.messages;
  cost_.bytes += bucket.bytes();
  return processes_.transport().begin_send(to, bucket.channel, data, bucket.bytes());
}

Transport::Ticket GradientExchange::begin_receive(const Bucket& bucket, std::size_t from) {
  return processes_.transport().begin_receive(from, bucket.channel,
                                              slot(bucket.depth) + bucket.place, bucket.bytes());
}

void GradientExchange::take_leaf(const Bucket& bucket, real* to) {
  loop_.within(bucket.first, bucket.last,
               [&](std::size_t tensor, std::size_t begin, std::size_t end) {
                 const Parameter& parameter = in_order(tensor);
                 if (parameter.has_gradient())
                   std::copy(parameter.gradient().data() + begin, parameter.gradient().data() + end,
                             to + bucket.place + loop_.offset_of(tensor) + begin - bucket.first);
               });
  for (std::size_t tensor = bucket.first_tensor; tensor < bucket.last_tensor; ++tensor)
    to[bucket.mark_of(tensor)] = real(in_order(tensor).has_gradient());
  if (&bucket == &buckets_.back())
    std::memcpy(to + bucket.end - result_size, &result_, sizeof result_);
  release(bucket);
}

/// Releases gradients to the next pass once all buckets have their part.
void GradientExchange::release(const Bucket& bucket) {
  for (std::size_t tensor = bucket.first_tensor; tensor < bucket.last_tensor; ++tensor)
    if (--untaken_[tensor] == 0) in_order(tensor).zero_gradient();
}

void GradientExchange::add(const Bucket& bucket, real* left, const real* right) const {
  loop_.within(bucket.first, bucket.last,
               [&](std::size_t tensor, std::size_t begin, std::size_t end) {
                 const std::size_t place = bucket.place + loop_.offset_of(tensor) - bucket.first;
                 if (right[bucket.mark_of(tensor)] == 0) return;
                 if (left[bucket.mark_of(tensor)] == 0) {
                   std::copy(right + place + begin, right + place + end, left + place + begin);
                 } else {
                   for (std::size_t i = place + begin; i < place + end; ++i) left[i] += right[i];
                 }
               });
  for (std::size_t tensor = bucket.first_tensor; tensor < bucket.last_tensor; ++tensor)
    if (right[bucket.mark_of(tensor)] != 0) left[bucket.mark_of(tensor)] = 1;
  if (&bucket == &buckets_.back())
    add_results(left + bucket.end - result_size, right + bucket.end - result_size);
}

void GradientExchange::put(const Bucket& bucket) {
  const real* sums = slot(0);
  for (std::size_t tensor = bucket.first_tensor; tensor < bucket.last_tensor; ++tensor) {
    if (sums[bucket.mark_of(tensor)] == 0) continue;
    const std::size_t offset = loop_.offset_of(tensor), size = loop_.size_of(tensor);
    const std::size_t begin = std::max(offset, bucket.first),
                      end = std::min(offset + size, bucket.last);
    std::copy(sums + bucket.place + begin - bucket.first, sums + bucket.place + end - bucket.first,
              gradient_place(in_order(tensor)) + begin - offset);
  }
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
      throw std::logic_error("the gradient of " + named.name + " was sent before it was complete");
  await_all();
}

/// Waits for all gradients, before the next pass.
void GradientExchange::await_all() {
  std::ranges::fill(untaken_, 0);
  for (const Bucket& bucket : buckets_)
    for (std::size_t tensor = bucket.first_tensor; tensor < bucket.last_tensor; ++tensor)
      ++untaken_[tensor];
}

ShardResult GradientExchange::finish() {
  wait_until([&] { return std::ranges::all_of(buckets_, &Bucket::is_done) && all_sent(); });
  for (const Bucket& bucket : buckets_) put(bucket);
  const ShardResult all = result_at(slot(0) + buckets_.back().end - result_size);
  slots_.clear();
  copies_.clear();
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

}  // namespace bochner
