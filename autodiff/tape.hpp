#pragma once
/// Var, Tape, Parameter: reverse-mode automatic differentiation.
///
/// A Tape lists nodes in order of creation, which is a topological order. backward() takes nodes
/// from its end, runs their closures and frees them: no recursion, no sorting, used once.

#include <atomic>
#include <bochner/autodiff/tangent.hpp>
#include <bochner/autodiff/tensor.hpp>
#include <bochner/base/numeric/philox.hpp>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

namespace bochner {
class CrossShardReduction;
}

namespace bochner::inline BOCHNER_PRECISION {

class Tape;
namespace detail {
struct Recording;
/// Tells handles whether their tape is alive. Slots are reused under new numbers, never freed.
struct TapeSlot {
  Tape* tape = nullptr;
  std::atomic<std::uint64_t> number = 0;  ///< of the tape in this slot, 0 for none
};
}  // namespace detail

/// Gradient and backward closure of a value.
struct Node {
  const char* op;
  Shape shape;
  Tensor gradient = {};       ///< meaningful while `filled`
  bool filled = false;        ///< has received a contribution
  bool consumed = false;      ///< its pass is over; contents are freed
  bool fixed = false;         ///< of a parameter that is not trained
  bool has_losses = false;    ///< has losses of its own: runs backward also without a gradient
  std::uint64_t version = 0;  ///< of a parameter's value, from 1; 0 for other nodes
  std::function<void(Tensor& gradient)> backward = {};
  std::shared_ptr<const Var> tangent = {};  ///< of the value, in forward mode
};

/// Handle on a value and, if gradients are recorded, on its node. Cheap to copy.
class Var {
 public:
  Var() = default;
  Var(Tensor value);
  // Defined in the source: inlined, every op would hold a dozen copies.
  Var(const Var&);
  Var(Var&&) noexcept;
  Var& operator=(const Var&);
  Var& operator=(Var&&) noexcept;
  ~Var();
  Var(std::shared_ptr<const Tensor> value, std::shared_ptr<Node> node, Tape* tape);

  /// Throws std::invalid_argument if there is none.
  const Tensor& value() const& {
    if (!value_) refuse_missing();
    return *value_;
  }
  const real* data() const& { return value().data(); }
  const Shape& shape() const& { return node_ ? node_->shape : value().shape(); }
  /// Returns copies for temporaries, whose value may be freed: for (real u : exp(x).value()).
  Tensor value() && { return std::as_const(*this).value(); }
  Shape shape() && { return std::as_const(*this).shape(); }
  const real* data() && = delete;
  std::shared_ptr<const Tensor> shared_value() const { return value_; }
  std::size_t size() const { return element_count(shape()); }
  std::size_t rank() const { return shape().size(); }
  /// Returns the size of an axis; negative axes count from the back.
  std::size_t dim(int axis) const { return axis_size(shape(), axis); }
  /// Returns false for a default-constructed Var, an omitted optional argument.
  bool exists() const { return value_ != nullptr || node_ != nullptr; }
  bool needs_gradient() const { return node_ != nullptr; }
  /// Returns null for a plain constant and after the tape is destroyed.
  Tape* tape() const {
    return place_ && place_->number.load(std::memory_order_relaxed) == number_ ? place_->tape
                                                                               : nullptr;
  }
  const Node* node() const { return node_.get(); }

  /// Returns this handle without its value, for closures that only propagate gradients.
  Var gradient_only() const {
    Var handle;
    handle.node_ = node_, handle.place_ = place_, handle.number_ = number_;
    return handle;
  }
  /// Returns this handle with another value of its shape.
  Var with_value(std::shared_ptr<const Tensor> value) const {
    Var handle = gradient_only();
    handle.value_ = std::move(value);
    return handle;
  }

  /// Adds a contribution if a gradient is needed, summed down over broadcast axes. The first one is
  /// assigned, or moved if it is a temporary of the right shape. Requires a living tape.
  void add_gradient(const Tensor& contribution) const;
  void add_gradient(Tensor&& contribution) const;
  /// Evaluates an xtensor expression with elements of `real`, then adds it.
  template <class Expression>
  void add_gradient(const xt::xexpression<Expression>& contribution) const {
    static_assert(std::is_same_v<typename Expression::value_type, real>,
                  "a gradient must have elements of type real: write real(0.5), not 0.5");
    if (node_) add_gradient(Tensor(contribution));
  }
  /// Returns the gradient for in-place addition, zeroed if it was empty. Requires needs_gradient().
  Tensor& gradient_buffer() const;
  bool has_gradient() const { return node_ && node_->filled; }

 private:
  friend struct GradientTarget;
  friend struct detail::Recording;
  friend void set_tangent(const Var& x, const Var& tangent);
  friend Var checkpoint(Tape& tape, const std::function<Var(Tape&, const Var&)>& f, const Var& x);
  [[noreturn]] void refuse_missing() const;
  std::shared_ptr<const Tensor> value_;
  std::shared_ptr<Node> node_;
  const detail::TapeSlot* place_ = nullptr;
  std::uint64_t number_ = 0;
};

/// Gradient of an input for an op that writes a product directly to it, with the beta to use: 0
/// assigns the first contribution, 1 adds. Null if none is needed.
struct GradientTarget {
  explicit GradientTarget(const Var& x);
  real beta = 0;
  real* data = nullptr;
};

/// Initial distribution of a parameter, drawn by initialize() from the seed and its name.
struct Initial {
  enum class Kind { as_constructed, uniform, normal };
  Kind kind = Kind::as_constructed;
  double scale = 0;  ///< bound of the uniform, standard deviation of the normal distribution
  static Initial uniform(double bound) { return {Kind::uniform, bound}; }
  static Initial normal(double deviation) { return {Kind::normal, deviation}; }
};

/// A persistent leaf: weights. Its gradient outlives the tape until zero_gradient().
class Parameter {
 public:
  Parameter() : Parameter(Tensor()) {}
  explicit Parameter(Tensor value, Initial initial = {});
  explicit Parameter(const Shape& shape) : Parameter(zeros(shape)) {}
  Parameter(std::initializer_list<std::size_t> shape, Initial initial = {})
      : Parameter(zeros(Shape(shape)), initial) {}
  Parameter(const Parameter&) = delete;
  Parameter& operator=(const Parameter&) = delete;
  Parameter(Parameter&&) = default;
  Parameter& operator=(Parameter&&) = default;

  /// Returns the value, which may be written between passes. A write while a pass awaits its
  /// backward must call mark_changed(), or gradients will be of other weights.
  Tensor& value() { return *value_; }
  const Tensor& value() const { return *value_; }
  const Shape& shape() const { return node_->shape; }
  const Initial& initial() const { return initial_; }
  bool has_gradient() const { return node_->filled; }
  Tensor& gradient() { return node_->gradient; }
  const Tensor& gradient() const { return node_->gradient; }
  void zero_gradient() { node_->filled = false; }
  /// Returns whether closures or handles still hold the gradient, so that a pass may add to it.
  bool is_in_use() const { return node_.use_count() > 1; }
  /// Replaces the value, also by another shape. Calls mark_changed().
  void assign(Tensor value);
  /// Makes backward() refuse passes that used the old value; for optimizers and swap().
  void mark_changed() { ++node_->version; }
  /// Lets training use the value, even if it is all zeros; see Tape.
  void mark_initialized() { awaits_initial_ = false; }
  /// Sets whether passes give it a gradient. What depends on constants and fixed parameters alone
  /// costs no backward pass. Optimizers fix the parameters whose learning rate is 0.
  void set_trained(bool trained);
  bool is_trained() const { return !node_->fixed; }
  /// Marks the value as an average, which optimizers must not update; see WeightAverage::swap().
  void set_averaged(bool averaged) { averaged_ = averaged; }
  bool is_averaged() const { return averaged_; }

 private:
  friend class Tape;
  void require_shape() const;
  void require_initialized();
  Initial initial_;
  std::shared_ptr<Tensor> value_;
  std::shared_ptr<Node> node_;
  bool averaged_ = false;
  bool awaits_initial_;  ///< its value was not seen to differ from zeros
};

/// A parameter with its dotted name, as optimizers and checkpoints see it.
struct NamedParameter {
  std::string name;
  Parameter* parameter;
};

using ParameterSet = std::unordered_set<const Parameter*>;
ParameterSet set_of(const std::vector<NamedParameter>& parameters);

/// A tensor saved under its name: a buffer of a model or a moment of an optimizer.
struct NamedTensor {
  std::string name;
  Tensor* tensor;
};

/// Thrown by a checking tape when a value or gradient is not finite; names the op.
struct NonFiniteError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Receives events of a pass, for profilers, layer statistics and distributed training. `bytes` is
/// the size of an op's inputs and output, or of the gradient it receives and those it propagates,
/// twice if added to an existing one. Arrays count in full, even if an op touches a part.
struct TapeObserver {
  virtual ~TapeObserver() = default;
  /// Called when a training step begins; time since the last event belongs to no op.
  virtual void step_began() {}
  virtual void recorded(const char* op, std::size_t bytes) { (void)op, (void)bytes; }
  virtual void went_backward(const char* op, std::size_t bytes) { (void)op, (void)bytes; }
  /// Called before the last pass that adds to the gradients of a step.
  virtual void last_pass_began() {}
};

/// Numbers that modules report during a training step, by name.
struct Reports {
  struct Mean {
    double sum = 0, count = 0;
  };
  std::map<std::string, Mean> means;
};

class WeightCache;

struct PassOptions {
  bool training = false;      ///< dropout on
  bool recording = true;      ///< gradients wanted
  bool check_finite = false;  ///< test each value and gradient: slow, to find the op that diverges
  bool holding = false;       ///< without recording, keep parameters in use for a later pass
  Tangents tangents = Tangents::none;  ///< of values that depend on leaves with a tangent
  std::uint64_t seed = 0;              ///< of the random numbers of this pass
  std::uint64_t step = 0;         ///< with `seed` it determines every random number of the pass
  std::uint64_t random_uses = 0;  ///< random ops so far in this pass
  double share = 1;               ///< weight of this pass in the gradient of a step, see add_loss()
  TapeObserver* observer = nullptr;
  Reports* reports = nullptr;                ///< see report()
  CrossShardReduction* reduction = nullptr;  ///< of a batch that is split into shards
  WeightCache* weight_cache = nullptr;       ///< without recording: shared by consecutive passes
  const ParameterSet* visited = nullptr;     ///< parameters allowed; others throw
};

class Tape : public PassOptions {
 public:
  Tape() : Tape(PassOptions()) {}
  explicit Tape(const PassOptions& options);
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;
  ~Tape();

  Var operator()(Parameter& parameter);
  Var constant(Tensor value) {
    return Var(std::make_shared<Tensor>(std::move(value)), nullptr, this);
  }
  /// Makes a constant without a copy; `value` must outlive the pass.
  Var view(const Tensor& value) {
    return Var(std::shared_ptr<const Tensor>(std::shared_ptr<void>(), &value), nullptr, this);
  }
  /// Makes a leaf whose gradient is wanted; read it with gradient_of() after backward().
  Var input(Tensor value);
  /// Returns the random function of the next random op.
  RandomFunction next_random(Purpose purpose) {
    return RandomFunction{seed, purpose, (step << 20) + random_uses++};
  }

  /// Adds a layer's own loss, (): `share` times its gradient is added to that of backward(). Does
  /// nothing unless gradients are recorded.
  void add_loss(const Var& loss);

  /// Runs the closures from the newest node to the oldest and frees them. `loss` must have one
  /// element. An exception clears the tape and leaves partial gradients in parameters and inputs.
  void backward(const Var& loss) {
    require(loss.size() == 1, "backward", "the loss must have one element; of ", loss.shape(),
            " give the gradient too");
    backward(loss, filled(loss.shape(), real(1)));
  }
  /// Runs backward() from a gradient of `output`, of its shape.
  void backward(const Var& output, Tensor gradient);
  /// Drops all nodes: their results can no longer be inputs of ops.
  void clear();
  void drop_after(std::size_t size);  ///< drops all but the first `size` nodes
  std::size_t size() const { return nodes_.size(); }

  Var record_node(const char* op, std::shared_ptr<const Tensor> value, std::size_t input_elements,
                  std::function<void(Tensor&)> backward);

 private:
  friend class Var;
  friend struct GradientTarget;
  friend struct detail::Recording;
  friend Var checkpoint(Tape& tape, const std::function<Var(Tape&, const Var&)>& f, const Var& x);
  /// A parameter's value as used by an op of this pass.
  struct Use {
    std::weak_ptr<const Node> parameter;  ///< does not keep it in use
    std::uint64_t version;
  };
  void record_use(const std::shared_ptr<Node>& parameter) {
    uses_.push_back({parameter, parameter->version});
  }
  void require_unchanged() const;
  void require_finite_leaves(const char* op) const;
  void run_backward();
  /// Runs a node's closure and drops it in any case. Returns false if there was nothing to do.
  bool run_node(Node& node);
  detail::TapeSlot& place_;
  std::vector<std::shared_ptr<Node>> nodes_;
  std::vector<Use> uses_;
  std::vector<std::shared_ptr<Node>> leaves_;  ///< held, or tested with `check_finite`
  std::size_t propagated_ = 0;                 ///< elements of gradients, see TapeObserver
  bool has_losses_ = false;                    ///< see add_loss()
};

/// Adds a number to the metrics of a training step as "report.NAME", the mean over all calls of the
/// step; the report of a run draws it. Does nothing in other passes. Throws std::invalid_argument
/// unless the name is of letters, digits, '_', '-' and '.'.
void report(Tape& tape, const std::string& name, double value);

/// Returns compute(), which depends on parameters alone, or the cached result for this owner.
Var cached(Tape& tape, const void* owner, const std::function<Var()>& compute);

/// Returns the gradient of a leaf after backward(); zeros if nothing reached it.
Tensor gradient_of(const Var& leaf);

namespace detail {
/// An element of {x, ..}; a list of Var itself would copy every handle.
struct Input {
  Input(const Var& x) : var(x) {}
  const Var& var;
};
/// Facts that record() needs about an op's inputs: their tape, whether one needs a gradient, and
/// their size. Refuses inputs whose pass is over, since no gradient could reach their sources.
/// Constants of a destroyed tape are plain constants.
struct Recording {
  Recording(std::initializer_list<Input> inputs);
  Recording(const std::vector<Var>& inputs);
  Tape* tape = nullptr;
  bool wanted = false;
  std::size_t elements = 0;
  std::size_t moving = 0;  ///< inputs with a tangent

 private:
  void include(const Var& input);
};
Var constant_result(const char* op, const Recording& recording, Tensor&& value);
Var recorded_result(const char* op, const Recording& recording, Tensor&& value,
                    std::function<void(Tensor&)> backward);
Var recorded_result(const char* op, const Recording& recording, Tensor&& value,
                    std::function<void(const Tensor&, Tensor&)> backward);
void record_tangent(const char* op, const Recording& inputs, const Var& y,
                    std::initializer_list<TangentRule> rules);
}  // namespace detail

/// Records the result of an op on the tape of its inputs, {x, ..} or a vector of Var. `backward` is
/// called with (output, gradient) or (gradient) and adds to the inputs' gradients by
/// add_gradient(). It is dropped if no gradient is wanted. `tangent` has a rule for each input.
template <class Backward>
Var record(const char* op, Tensor value, const detail::Recording& inputs, Backward&& backward,
           std::initializer_list<TangentRule> tangent = {}) {
  if (!inputs.wanted) return detail::constant_result(op, inputs, std::move(value));
  Var y = detail::recorded_result(op, inputs, std::move(value), std::forward<Backward>(backward));
  if (inputs.moving > 0) detail::record_tangent(op, inputs, y, tangent);
  return y;
}

/// Returns f(tape, x) and stores only x: the backward pass runs f again. Parameters used inside f
/// receive gradients as usual.
Var checkpoint(Tape& tape, const std::function<Var(Tape&, const Var&)>& f, const Var& x);

}  // namespace bochner::inline BOCHNER_PRECISION
