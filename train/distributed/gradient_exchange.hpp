#pragma once
/// Gradients on their way between processes, bucket by bucket, while passes go on.

#include <bochner/optim/flat_loop.hpp>
#include <bochner/train/distributed/exchange_plan.hpp>
#include <bochner/train/distributed/processes.hpp>
#include <deque>
#include <functional>
#include <optional>

namespace bochner {

/// The place of a gradient that is there from now on.
real* gradient_place(Parameter& parameter);

/// What a process asks of the run.
struct StopRequests {
  int signal = 0;  ///< to stop, the number of the signal that it received
  bool time_is_up = false;
  bool save = false;  ///< a checkpoint
};

/// The requests of both; of two signals the larger one.
StopRequests merged(const StopRequests& left, const StopRequests& right);

/// What goes with the gradients of a shard.
struct ShardResult {
  double loss = 0;
  StopRequests stop_requests = {};
};

/// What exchanges have cost this process.
struct ExchangeCost {
  std::size_t messages = 0, bytes = 0;  ///< that it has sent
  double seconds = 0;                   ///< that it has waited behind its passes
};

/// Adds up the gradients of all shards by their tree. Those of a bucket are on their way as soon as
/// the last pass of this process needs them no longer; the first exchange tells in which order that
/// is. Messages are moved on whenever it is looked at.
class GradientExchange {
 public:
  /// The parameters must outlive it.
  GradientExchange(std::vector<NamedParameter> parameters, std::size_t shards,
                   Processes& processes);

  /// A new step.
  void begin();
  /// Between two ops of a backward pass that is the last one to change gradients.
  void look();
  /// Takes over the gradients that the passes of a shard of this process have left.
  void take(std::size_t shard, const ShardResult& result);
  /// Waits until the parameters have the sums of all shards. Returns the loss of all shards and the
  /// stop requests of all processes.
  ShardResult finish();

  const ExchangeCost& cost() const { return cost_; }

 private:
  /// Numbers of the gradients of all parameters in their order, one behind the other; then, for
  /// each parameter that has some of them, 1 if it has a gradient.
  struct Bucket {
    std::size_t first, last;                ///< of the numbers, and behind them
    std::size_t first_tensor, last_tensor;  ///< of the parameters in their order, and behind them
    std::size_t place, end;                 ///< in a slot; the last one ends with a ShardResult
    std::size_t channel;                    ///< of its messages
    std::vector<ExchangeStep> plan = {};
    std::size_t next = 0, depth = 0, taken = 0;  ///< of the plan, of the stack, shards
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
  /// Moves messages on until the condition holds.
  void wait_until(const std::function<bool()>& condition);
  real* slot(std::size_t index) { return slots_[index].data(); }
  const real* top(const Bucket& bucket) { return slot(bucket.depth - 1) + bucket.place; }

  std::vector<NamedParameter> parameters_;
  Leaves leaves_;
  Processes& processes_;
  std::vector<std::size_t> order_, noted_;  ///< of parameters: as they are done; found so
  std::vector<char> is_noted_;
  bool learned_;
  FlatLoop loop_;                     ///< over the parameters in their order
  std::vector<std::size_t> untaken_;  ///< of each of them: buckets that are to take their part
  std::vector<Bucket> buckets_;
  std::size_t depth_ = 0;
  std::vector<Tensor> slots_;  ///< of the stack, with all buckets in each; during a step
  std::deque<Tensor> copies_;  ///< that are sent while the slot has other numbers
  std::vector<Transport::Ticket> shared_;
  std::size_t finished_ = 0;  ///< parameters in their order that no pass awaits
  std::size_t passed_ = 0;    ///< the first shard whose pass is not over
  ShardResult result_;        ///< of the last one that was taken
  ExchangeCost cost_;
};

/// Lets an exchange look between the ops of a step's last backward pass; forwards all to another
/// observer, if there is one.
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
