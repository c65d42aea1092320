#pragma once
/// Var, Tape, Parameter: arrays that remember how to go backward.
///
/// A Tape is a list of nodes in the order of their creation, which is a topological order.
/// backward() takes nodes from its end, runs their closures and frees them: no recursion, no
/// sorting, used once.

#include <atomic>
#include <bochner/autodiff/tensor.hpp>
#include <bochner/base/numeric/philox.hpp>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <typeindex>
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
/// Where handles learn whether their tape still lives. Tapes take places in turn, each under a
/// number of its own; places are never freed.
struct TapePlace {
  Tape* tape = nullptr;
  std::atomic<std::uint64_t> number = 0;  ///< of the tape that is here, 0 for none
};
}  // namespace detail

/// The gradient side of a value: what arrives from above and what to do with it.
struct Node {
  const char* op;
  Shape shape;
  Tensor gradient = {};       ///< meaningful while `filled`
  bool filled = false;        ///< has received a contribution
  bool spent = false;         ///< its pass is over: what it held is gone
  bool has_losses = false;    ///< losses of its own: goes backward also with an empty gradient
  std::uint64_t version = 0;  ///< of the value of a parameter, from 1; 0 where it is none
  std::function<void(Tensor& gradient)> backward = {};
};

/// A handle on a value and, when gradients are recorded, on its node. Cheap to copy.
class Var {
 public:
  Var() = default;
  /// A constant.
  Var(Tensor value);
  // In the source: every op would otherwise hold a dozen copies of them.
  Var(const Var&);
  Var(Var&&) noexcept;
  Var& operator=(const Var&);
  Var& operator=(Var&&) noexcept;
  ~Var();
  Var(std::shared_ptr<const Tensor> value, std::shared_ptr<Node> node, Tape* tape);

  /// Throws std::invalid_argument where there is none.
  const Tensor& value() const& {
    if (!value_) refuse_missing();
    return *value_;
  }
  const real* data() const& { return value().data(); }
  const Shape& shape() const& { return node_ ? node_->shape : value().shape(); }
  /// Copies of a temporary's, with which its value may go: for (real u : exp(x).value()).
  Tensor value() && { return std::as_const(*this).value(); }
  Shape shape() && { return std::as_const(*this).shape(); }
  const real* data() && = delete;
  std::shared_ptr<const Tensor> shared_value() const { return value_; }
  std::size_t size() const { return element_count(shape()); }
  std::size_t rank() const { return shape().size(); }
  /// Size of an axis; negative axes count from the back.
  std::size_t dim(int axis) const { return axis_size(shape(), axis); }
  /// False for a default-constructed Var: an optional argument that was left out.
  bool exists() const { return value_ != nullptr || node_ != nullptr; }
  bool needs_gradient() const { return node_ != nullptr; }
  /// Null for a constant of none, and when it is gone.
  Tape* tape() const {
    return place_ && place_->number.load(std::memory_order_relaxed) == number_ ? place_->tape
                                                                               : nullptr;
  }
  const Node* node() const { return node_.get(); }

  /// The same handle without its value, for closures that only pass gradients on: the value may be
  /// freed early.
  Var gradient_only() const;

  /// The door for gradients: nothing if none is needed, otherwise summed down over broadcast axes
  /// and added. The first contribution is assigned, and moved in where it is a temporary of the
  /// right shape. Only while the tape lives.
  void add_gradient(const Tensor& contribution) const;
  void add_gradient(Tensor&& contribution) const;
  /// The same for an xtensor expression, evaluated first. Its elements must be `real`.
  template <class Expression>
  void add_gradient(const xt::xexpression<Expression>& contribution) const {
    static_assert(std::is_same_v<typename Expression::value_type, real>,
                  "a gradient must have elements of type real: write real(0.5), not 0.5");
    if (node_) add_gradient(Tensor(contribution));
  }
  /// The other door, to add to in place: the gradient itself, zeroed if it was empty. Only where
  /// needs_gradient().
  Tensor& gradient_buffer() const;
  /// Whether a contribution has arrived.
  bool has_gradient() const { return node_ && node_->filled; }

 private:
  friend struct GradientTarget;
  friend struct detail::Recording;
  friend Var checkpoint(Tape& tape, const std::function<Var(Tape&, const Var&)>& f, const Var& x);
  [[noreturn]] void refuse_missing() const;
  std::shared_ptr<const Tensor> value_;
  std::shared_ptr<Node> node_;
  const detail::TapePlace* place_ = nullptr;
  std::uint64_t number_ = 0;
};

/// The gradient of an input, for an op that writes a product straight into it, and the beta that it
/// must use: 0 assigns the first contribution, 1 adds a later one. Null where none is needed.
struct GradientTarget {
  explicit GradientTarget(const Var& x);
  real beta = 0;
  real* data = nullptr;
};

/// How a parameter starts. The numbers are drawn by initialize() from the seed and the parameter's
/// name.
struct Initial {
  enum class Kind { as_constructed, uniform, normal };
  Kind kind = Kind::as_constructed;
  double scale = 0;  ///< bound of the uniform, standard deviation of the normal distribution
  static Initial uniform(double bound) { return {Kind::uniform, bound}; }
  static Initial normal(double deviation) { return {Kind::normal, deviation}; }
};

/// A persistent leaf: weights. Its gradient survives the tape until zero_gradient().
class Parameter {
 public:
  Parameter() : Parameter(Tensor()) {}
  explicit Parameter(Tensor value, Initial initial = {});
  /// Zeros of the given shape.
  explicit Parameter(const Shape& shape) : Parameter(zeros(shape)) {}
  Parameter(std::initializer_list<std::size_t> shape, Initial initial = {})
      : Parameter(zeros(Shape(shape)), initial) {}
  Parameter(const Parameter&) = delete;
  Parameter& operator=(const Parameter&) = delete;
  Parameter(Parameter&&) = default;
  Parameter& operator=(Parameter&&) = default;

  /// To read, and to write between passes: who writes while one awaits its backward says so by
  /// mark_changed(), or gets gradients of other weights than those of the pass.
  Tensor& value() { return *value_; }
  const Tensor& value() const { return *value_; }
  const Shape& shape() const { return node_->shape; }
  const Initial& initial() const { return initial_; }
  bool has_gradient() const { return node_->filled; }
  Tensor& gradient() { return node_->gradient; }
  const Tensor& gradient() const { return node_->gradient; }
  void zero_gradient() { node_->filled = false; }
  /// Whether a pass may still add to the gradient: closures that are to run, or handles, hold it.
  bool is_awaited() const { return node_.use_count() > 1; }
  /// Replaces the value; the shape may change. Calls mark_changed().
  void assign(Tensor value);
  /// From here on, backward() refuses the passes that have used the value. Steps of optimizers and
  /// WeightAverage::swap() call it.
  void mark_changed() { ++node_->version; }
  /// While the value is an average, no optimizer updates it: WeightAverage::swap().
  void set_averaged(bool averaged) { averaged_ = averaged; }
  bool is_averaged() const { return averaged_; }

 private:
  friend class Tape;
  Initial initial_;
  std::shared_ptr<Tensor> value_;
  std::shared_ptr<Node> node_;
  bool averaged_ = false;
};

/// A parameter under its dotted name: what optimizers and checkpoints see of a model.
struct NamedParameter {
  std::string name;
  Parameter* parameter;
};

/// Those that a visit of a model names.
using ParameterSet = std::unordered_set<const Parameter*>;
ParameterSet set_of(const std::vector<NamedParameter>& parameters);

/// A tensor that is saved under its name: a buffer of a model, a moment of an optimizer.
struct NamedTensor {
  std::string name;
  Tensor* tensor;
};

/// Thrown by a checking tape when a value or a gradient is not finite; names the op.
struct NonFiniteError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What is told of a pass to profilers, to those who gather what layers make of it, and to
/// processes that exchange gradients. `bytes` is the size of the op's inputs and output, or of the
/// gradient that it receives and of those that it hands on, twice where there was one to add to.
/// Arrays count in whole, also where an op touches a part.
struct TapeObserver {
  virtual ~TapeObserver() = default;
  /// A training step begins: what was done since the last note belongs to no op.
  virtual void step_began() {}
  virtual void recorded(const char* op, std::size_t bytes) { (void)op, (void)bytes; }
  virtual void went_backward(const char* op, std::size_t bytes) { (void)op, (void)bytes; }
  /// The pass that begins is the last one that adds to the gradients of a step.
  virtual void last_pass_began() {}
};

/// Values that follow from parameters alone, for passes without gradients between which no
/// parameter changes: the tokens of texts, one after the other. Several threads may ask.
class WeightCache {
 public:
  /// Parameters that live as long as this does.
  void add(std::span<const NamedParameter> parameters);
  /// What compute() gave when this owner first asked; `detail` tells its values apart.
  template <class T>
  std::shared_ptr<const T> of(const void* owner, double detail,
                              const std::function<std::shared_ptr<const T>()>& compute) {
    const Key key{owner, detail, typeid(T)};
    std::shared_ptr<const void> value = find(key);
    if (!value) value = keep(key, compute());
    return std::static_pointer_cast<const T>(value);
  }
  /// Whether this very tensor is one of them, or a parameter, so that its address may be an owner.
  bool holds(const Tensor& value) const;

 private:
  using Key = std::tuple<const void*, double, std::type_index>;
  /// Null where there is none.
  std::shared_ptr<const void> find(const Key& key) const;
  /// The value, or the one that another thread has kept meanwhile.
  std::shared_ptr<const void> keep(const Key& key, std::shared_ptr<const void> value);

  mutable std::mutex mutex_;
  std::map<Key, std::shared_ptr<const void>> values_;
  std::set<const void*> addresses_;
};

/// How a pass is run, and which random numbers it draws.
struct PassOptions {
  bool training = false;  ///< dropout on
  bool recording = true;  ///< gradients wanted
  bool check_finite =
      false;  ///< test each value and gradient: slow, for finding the op to throw_diverged
  bool holding = false;    ///< without recording, keep parameters awaited for a later pass
  std::uint64_t seed = 0;  ///< of the random numbers of this pass
  std::uint64_t step = 0;  ///< training step: with `seed` it fixes every random number of the pass
  std::uint64_t random_uses = 0;  ///< ops of this pass that have drawn so far
  double share = 1;               ///< of this pass in the gradient of a step, see add_loss()
  TapeObserver* observer = nullptr;
  CrossShardReduction* reduction = nullptr;  ///< of a batch that is split into shards
  WeightCache* kept = nullptr;               ///< without recording: of the passes before
  const ParameterSet* visited = nullptr;  ///< refuse all others: they are neither trained nor saved
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
  /// A constant that is not copied; `value` must outlive the pass.
  Var view(const Tensor& value) {
    return Var(std::shared_ptr<const Tensor>(std::shared_ptr<void>(), &value), nullptr, this);
  }
  /// A leaf whose gradient is wanted; read it with gradient_of() after backward().
  Var input(Tensor value);
  /// The random function of the next op that draws.
  RandomFunction next_random(Purpose purpose);

  /// A layer's own loss, (), beside the one that backward() is given: the gradient of `share` times
  /// it is added to that of backward(). Nothing where no gradient is recorded.
  void add_loss(const Var& loss);

  /// Runs the closures from the newest node to the oldest and frees them. `loss` must have one
  /// element. An exception clears the tape and leaves parameters and inputs with a part of their
  /// gradients.
  void backward(const Var& loss) {
    require(loss.size() == 1, "backward", "a loss has one element; of ", loss.shape(),
            " give the gradient too");
    backward(loss, filled(loss.shape(), real(1)));
  }
  /// The same with a gradient for `output`, of its shape.
  void backward(const Var& output, Tensor gradient);
  /// Forgets all nodes: their results can no longer be inputs of ops.
  void clear();
  std::size_t size() const { return nodes_.size(); }

  Var record_node(const char* op, std::shared_ptr<const Tensor> value, std::size_t input_elements,
                  std::function<void(Tensor&)> backward);

 private:
  friend class Var;
  friend struct GradientTarget;
  friend struct detail::Recording;
  friend Var checkpoint(Tape& tape, const std::function<Var(Tape&, const Var&)>& f, const Var& x);
  /// The value of a parameter, as an op of this pass has seen it.
  struct Use {
    std::weak_ptr<const Node> parameter;  ///< which it does not await
    std::uint64_t version;
  };
  void note_use(const std::shared_ptr<Node>& parameter) {
    uses_.push_back({parameter, parameter->version});
  }
  /// Weights have not changed since the ops of this pass used them.
  void require_unchanged() const;
  void require_finite_leaves(const char* op) const;
  /// From the gradients that have arrived.
  void go_backward();
  /// False where there was nothing to do. The closure goes in any case: what it holds is awaited no
  /// longer.
  bool pass_on(Node& node);
  detail::TapePlace& place_;
  std::vector<std::shared_ptr<Node>> nodes_;
  std::vector<Use> uses_;
  std::vector<std::shared_ptr<Node>> leaves_;  ///< that are held, or tested with `check_finite`
  std::size_t handed_on_ = 0;                  ///< elements of gradients, see TapeObserver
  bool has_losses_ = false;                    ///< see add_loss()
};

/// compute(), which depends on parameters alone, or what the owner's first pass made of it.
Var kept(Tape& tape, const void* owner, const std::function<Var()>& compute);

/// Gradient of a leaf after backward(); zeros if nothing reached it.
Tensor gradient_of(const Var& leaf);

namespace detail {
/// An element of {x, ..}: a list of Var itself would copy every handle.
struct Input {
  Input(const Var& x) : var(x) {}
  const Var& var;
};
/// What record() needs to know of the inputs of an op: their tape, whether one of them needs a
/// gradient on it, and how large they are. Refuses those whose pass is over: no gradient would
/// reach what they were made of. Constants of a tape that is gone are constants of none.
struct Recording {
  Recording(std::initializer_list<Input> inputs);
  Recording(const std::vector<Var>& inputs);
  Tape* tape = nullptr;
  bool wanted = false;
  std::size_t elements = 0;

 private:
  void include(const Var& input);
};
Var constant_result(const char* op, const Recording& recording, Tensor&& value);
Var recorded_result(const char* op, const Recording& recording, Tensor&& value,
                    std::function<void(Tensor&)> backward);
Var recorded_result(const char* op, const Recording& recording, Tensor&& value,
                    std::function<void(const Tensor&, Tensor&)> backward);

}  // namespace detail

/// Puts the result of an op on the tape of its inputs, {x, ..} or a vector of Var. `backward` is
/// called with (output, gradient) or with (gradient); it hands contributions to the inputs'
/// add_gradient(). It is dropped if no gradient is wanted.
template <class Backward>
Var record(const char* op, Tensor value, const detail::Recording& inputs, Backward&& backward) {
  if (!inputs.wanted) return detail::constant_result(op, inputs, std::move(value));
  return detail::recorded_result(op, inputs, std::move(value), std::forward<Backward>(backward));
}

/// f(tape, x) without keeping what its backward needs: it is computed again in the backward pass.
/// Memory of the segment is that of x; parameters used inside f receive their gradients as usual.
Var checkpoint(Tape& tape, const std::function<Var(Tape&, const Var&)>& f, const Var& x);

}  // namespace bochner::inline BOCHNER_PRECISION
