#pragma once
/// Exchange of gradients between processes, bucket by bucket, during the passes.

#include <bochner/optim/flat_loop.hpp>
#include <bochner/train/distributed/exchange_plan.hpp>
#include <bochner/train/distributed/processes.hpp>
#include <deque>
#include <functional>

namespace bochner {

/// Returns the storage of a gradient, allocated on demand.
real* gradient_place(Parameter& parameter);

/// Requests of a process to the run.
struct StopRequests {
  int signal = 0;  ///< received signal that requests a stop, 0 for none
  bool time_is_up = false;
  bool save = false;  ///< requests a checkpoint
};

/// Merges requests; of two signals the larger one.
StopRequests merged(const StopRequests& left, const StopRequests& right);

struct ShardResult {
  double loss = 0;
  StopRequests stop_requests = {};
};

/// Cost of exchanges for this process.
struct ExchangeCost {
  std::size_t messages = 0, bytes = 0;  ///< sent
  double seconds = 0;                   ///< of waiting after its passes
};

/// All-reduction of the gradients of all shards by their tree. A bucket is sent once the last pass
/// of this process is done with it, an order that the first exchange learns.
class GradientExchange {
 public:
  /// Makes an exchange, which the parameters must outlive.
  GradientExchange(std::vector<NamedParameter> parameters, std::size_t shards,
                   Processes& processes);

  void begin();
  /// Progresses messages between ops of a backward pass that is the last to change gradients.
  void look();
  /// Takes the gradients that the passes of a shard of this process left.
  void take(std::size_t shard, const ShardResult& result);
  /// Waits until the parameters have the sums of all shards. Returns the loss of all shards and the
  /// stop requests of all processes.
  ShardResult finish();

  const ExchangeCost& cost() const { return cost_; }

 private:
  /// Part of the concatenated gradients; then, for each parameter in it, 1 if it has a gradient.
  struct Bucket {
    std::size_t first, last;                ///< of the numbers; last is exclusive
    std::size_t first_tensor, last_tensor;  ///< of the parameters in order; last is exclusive
    std::size_t place, end;                 ///< in a slot; the last bucket ends with a ShardResult
    std::size_t channel;                    ///< of its messages
    std::vector<ExchangeStep> plan = {};
    std::size_t next = 0, depth = 0,
                taken = 0;  ///< step of the plan, size of the stack, shards taken
    std::optional<Transport::Ticket> ticket = {};
    bool is_done() const { return next == plan.size(); }
    std::size_t bytes() const { return (end - place) * sizeof(real); }
    std::size_t mark_of(std::size_t tensor) const {
      return place + last - first + tensor - first_tensor;
    }
  };

  void cut(std::vector<std::size_t> order);
  void add_bucket(std::size_t first, std::size_t last);
  void await_all();
  void note_finished();
  void learn_order();
  bool is_in_use(std::size_t index) const { return parameters_[index].parameter->is_in_use(); }
  Parameter& in_order(std::size_t tensor) { return *parameters_[order_[tensor]].parameter; }
  void advance_all();
  bool advance(Bucket& bucket, const ExchangeStep& step);
  bool is_ready(const Bucket& bucket, std::size_t shard) const;
  bool is_over(Bucket& bucket, const ExchangeStep& step);
  static bool has_leaf_behind(const Bucket& bucket);
  void send_copy(const Bucket& bucket, std::size_t to);
  Transport::Ticket begin_send(const Bucket& bucket, std::size_t to, const real* data);
  Transport::Ticket begin_receive(const Bucket& bucket, std::size_t from);
  void take_leaf(const Bucket& bucket, real* to);
  void release(const Bucket& bucket);
  void add(const Bucket& bucket, real* left, const real* right) const;
  void put(const Bucket& bucket);
  bool all_sent();
  void wait_until(const std::function<bool()>& condition);
  real* slot(std::size_t index) { return slots_[index].data(); }
  const real* top(const Bucket& bucket) { return slot(bucket.depth - 1) + bucket.place; }

  std::vector<NamedParameter> parameters_;
  Leaves leaves_;
  Processes& processes_;
  std::vector<std::size_t> order_,
      noted_;  ///< of parameters: expected and measured order of completion
  std::vector<char> is_noted_;
  bool learned_;
  FlatLoop loop_;                     ///< over the parameters in order
  std::vector<std::size_t> untaken_;  ///< per parameter: buckets that still take their part
  std::vector<Bucket> buckets_;
  std::size_t depth_ = 0;
  std::vector<Tensor> slots_;  ///< of the stack, each with all buckets; during a step
  std::deque<Tensor> copies_;  ///< in flight while the slot has other numbers
  std::vector<Transport::Ticket> shared_;
  std::size_t finished_ = 0;  ///< parameters in order that no pass awaits
  std::size_t passed_ = 0;    ///< first shard whose pass is not over
  ShardResult result_;        ///< of the last taken shard
  ExchangeCost cost_;
};

/// Observer that lets an exchange progress between the ops of a step's last backward pass; forwards
/// everything to another observer, if there is one.
class ExchangeWatch : public TapeObserver {
 public:
  ExchangeWatch(GradientExchange& exchange, TapeObserver* next)
      : exchange_(exchange), next_(next) {}
  void recorded(const char* op, std::size_t bytes) override {
    if (next_) next_->recorded(op, bytes);
  }
  void went_backward(const char* op, std::size_t bytes) override {
    if (next_) next_->went_backward(op, bytes);
    if (is_last_) exchange_.look();
  }
  void last_pass_began() override {
    if (next_) next_->last_pass_began();
    is_last_ = true;
  }

 private:
  GradientExchange& exchange_;
  TapeObserver* next_;
  bool is_last_ = false;
};

}  // namespace bochner
