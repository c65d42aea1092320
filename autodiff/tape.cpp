#include <algorithm>
#include <atomic>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/tape.hpp>
#include <bochner/autodiff/weight_cache.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Returns the place of an element: "(0, 173, 2)".
std::string place_of(std::size_t element, const Shape& shape) {
  Shape place = shape;
  for (std::size_t axis = shape.size(); axis-- > 0; element /= shape[axis])
    place[axis] = element % shape[axis];
  return to_string(place);
}

void require_finite(const Tensor& tensor, const char* what, const char* op) {
  if (all_finite(tensor.data(), tensor.size())) return;
  const real* bad = std::find_if_not(tensor.data(), tensor.data() + tensor.size(),
                                     [](real u) { return std::isfinite(u); });
  throw NonFiniteError(std::string("the ") + what + " of op " + op + " " +
                       to_string(tensor.shape()) + " is not finite: " +
                       (std::isnan(*bad) ? "nan"
                        : *bad > 0       ? "inf"
                                         : "-inf") +
                       " at element " + place_of(std::size_t(bad - tensor.data()), tensor.shape()));
}

void consume(Node& node) {
  node.backward = nullptr;
  node.tangent = nullptr;
  if (node.filled) node.gradient = Tensor();
  node.filled = false;
  node.consumed = true;
}

/// Slots of all tapes alive at a time; slots of destroyed tapes are reused.
struct Slots {
  std::mutex mutex;
  std::vector<detail::TapeSlot*> free;
  std::uint64_t taken = 0;

  detail::TapeSlot& take(Tape* tape) {
    const std::lock_guard lock(mutex);
    if (free.empty()) free.push_back(new detail::TapeSlot);
    detail::TapeSlot& place = *free.back();
    free.pop_back();
    place.tape = tape;
    place.number.store(++taken, std::memory_order_relaxed);
    return place;
  }
  void give_back(detail::TapeSlot& place) {
    const std::lock_guard lock(mutex);
    place.number.store(0, std::memory_order_relaxed);
    free.push_back(&place);
  }
};

Slots& places() {
  static Slots& all = *new Slots;  // never destroyed: tapes may be static objects, too
  return all;
}

}  // namespace

Var::Var(Tensor value) : value_(std::make_shared<Tensor>(std::move(value))) {}
Var::Var(const Var&) = default;
Var::Var(Var&&) noexcept = default;
Var& Var::operator=(const Var&) = default;
Var& Var::operator=(Var&&) noexcept = default;
Var::~Var() = default;
Var::Var(std::shared_ptr<const Tensor> value, std::shared_ptr<Node> node, Tape* tape)
    : value_(std::move(value)), node_(std::move(node)) {
  if (tape) place_ = &tape->place_, number_ = tape->place_.number;
}

void Var::refuse_missing() const {
  throw std::invalid_argument(
      node_ ? "[value] gradient_only() has no value; capture the Var itself if the backward pass "
              "needs its value"
            : "[value] an empty Var was used: an omitted argument or an unassigned result");
}

void Var::add_gradient(const Tensor& contribution) const {
  if (!node_) return;
  if (contribution.shape() != node_->shape) {
    return add_gradient(sum_to_shape(contribution, node_->shape));
  }
  const GradientTarget target(*this);
  const std::size_t size = contribution.size();
  parallel_for(size, elementwise_grain(size), [&](std::size_t begin, std::size_t end) {
    real* to = target.data;
    const real* from = contribution.data();
    if (target.beta == 0) {
      std::copy(from + begin, from + end, to + begin);
    } else {
      for (std::size_t i = begin; i < end; ++i) to[i] += from[i];
    }
  });
}

void Var::add_gradient(Tensor&& contribution) const {
  if (!node_) return;
  if (node_->filled || contribution.shape() != node_->shape) {
    return add_gradient(static_cast<const Tensor&>(contribution));
  }
  if (Tape* tape = this->tape()) tape->propagated_ += contribution.size();
  node_->gradient = std::move(contribution);
  node_->filled = true;
}

GradientTarget::GradientTarget(const Var& x) {
  if (!x.needs_gradient()) return;
  Node& node = *x.node_;
  if (node.gradient.shape() != node.shape || node.gradient.size() != element_count(node.shape)) {
    node.gradient = uninitialized(node.shape);
  }
  if (Tape* tape = x.tape()) tape->propagated_ += node.gradient.size() * (node.filled ? 2 : 1);
  beta = node.filled ? real(1) : real(0);
  node.filled = true;
  data = node.gradient.data();
}

Tensor& Var::gradient_buffer() const {
  const GradientTarget target(*this);
  if (target.beta == 0) std::fill_n(target.data, size(), real(0));
  return node_->gradient;
}

Parameter::Parameter(Tensor value, Initial initial)
    : initial_(initial),
      value_(std::make_shared<Tensor>(std::move(value))),
      node_(std::make_shared<Node>(Node{"parameter", value_->shape()})),
      awaits_initial_(initial.kind != Initial::Kind::as_constructed && initial.scale > 0 &&
                      value_->size() > 0) {
  mark_changed();
}

void Parameter::require_shape() const {
  require(value_->shape() == node_->shape, "tape", "a parameter ", node_->shape, " holds a value ",
          value_->shape(), "; replace it by assign()");
}

/// Tapes of several threads may come here at once.
void Parameter::require_initialized() {
  const std::atomic_ref<bool> awaits(awaits_initial_);
  if (!awaits.load(std::memory_order_relaxed)) return;
  require(std::ranges::any_of(*value_, [](real x) { return x != 0; }), "tape", "a parameter ",
          node_->shape,
          " of random initial values is all zeros in training; call "
          "initialize(model, seed), or read weights");
  awaits.store(false, std::memory_order_relaxed);
}

void Parameter::assign(Tensor value) {
  awaits_initial_ = false;
  *value_ = std::move(value);
  node_->shape = value_->shape();
  node_->filled = false;
  mark_changed();
}

void Parameter::set_trained(bool trained) {
  node_->fixed = !trained;
  if (!trained) zero_gradient();
}

ParameterSet set_of(const std::vector<NamedParameter>& parameters) {
  ParameterSet set;
  for (const NamedParameter& named : parameters) set.insert(named.parameter);
  return set;
}

std::shared_ptr<const void> WeightCache::keep(const Key& key, std::shared_ptr<const void> value) {
  const std::lock_guard lock(mutex_);
  const std::shared_ptr<const void>& stored = values_.emplace(key, std::move(value)).first->second;
  addresses_.insert(stored.get());
  return stored;
}

Var cached(Tape& tape, const void* owner, const std::function<Var()>& compute) {
  if (tape.recording || !tape.weight_cache) return compute();
  return Var(tape.weight_cache->of<Tensor>(owner, 0, [&] { return compute().shared_value(); }),
             nullptr, &tape);
}

Tape::Tape(const PassOptions& options) : PassOptions(options), place_(places().take(this)) {}

Tape::~Tape() {
  clear();
  places().give_back(place_);
}

void Tape::clear() {
  uses_.clear();
  drop_after(0);
}

void Tape::drop_after(std::size_t size) {
  // A handle that outlives the tape must not hold a chain of closures: freeing it would recurse.
  while (nodes_.size() > size) {
    consume(*nodes_.back());
    nodes_.pop_back();
  }
}

Var Tape::operator()(Parameter& parameter) {
  require(!visited || visited->contains(&parameter), "tape", "a parameter ", parameter.shape(),
          " is not named by any visit(), so it would be neither trained nor saved; add it to the "
          "visit() of its module");
  parameter.require_shape();
  if (training) parameter.require_initialized();
  const bool trained = parameter.is_trained();
  if (recording && !trained) record_use(parameter.node_);
  if (recording ? trained && check_finite : holding) leaves_.push_back(parameter.node_);
  return Var(parameter.value_, recording && trained ? parameter.node_ : nullptr, this);
}

Var Tape::input(Tensor value) {
  auto node = std::make_shared<Node>(Node{"input", value.shape()});
  if (check_finite) leaves_.push_back(node);
  return Var(std::make_shared<const Tensor>(std::move(value)), std::move(node), this);
}

Var Tape::record_node(const char* op, std::shared_ptr<const Tensor> value,
                      std::size_t input_elements, std::function<void(Tensor&)> backward) {
  if (check_finite) require_finite(*value, "value", op);
  if (observer) observer->recorded(op, (input_elements + value->size()) * sizeof(real));
  auto node = std::make_shared<Node>(Node{op, value->shape()});
  node->backward = std::move(backward);
  nodes_.push_back(node);
  return Var(std::move(value), std::move(node), this);
}

void Tape::add_loss(const Var& loss) {
  require(loss.size() == 1, "add_loss", "the loss must have one element, not ", loss.shape());
  require(!loss.node() || !loss.node()->consumed, "add_loss",
          "the loss belongs to a finished pass");
  if (has_tangents(loss))
    throw TangentError("[add_loss] a loss that a layer adds has no tangent rule");
  has_losses_ = true;
  if (loss.needs_gradient()) loss.add_gradient(filled(loss.shape(), real(share)));
}

void Tape::require_unchanged() const {
  for (const Use& use : uses_) {
    const std::shared_ptr<const Node> parameter = use.parameter.lock();
    require(!parameter || parameter->version == use.version, "backward", "a parameter ",
            parameter->shape,
            " changed after this pass used it (by an optimizer step, assign() or swap()); call "
            "backward() before the change, or record the pass again");
  }
}

void Tape::require_finite_leaves(const char* op) const {
  for (const auto& leaf : leaves_)
    if (leaf->filled) require_finite(leaf->gradient, "gradient for a parameter or an input", op);
}

void Tape::backward(const Var& output, Tensor gradient) {
  require(output.needs_gradient() && output.tape() == this, "backward",
          "the output depends on no parameter or input of this tape");
  require(!output.node()->consumed, "backward",
          "the output was already freed by backward() or clear(); call backward() once on the sum "
          "of the outputs, or record them again");
  require(gradient.shape() == output.shape(), "backward", "gradient ", gradient.shape(),
          ", output ", output.shape());
  require_unchanged();
  output.add_gradient(std::move(gradient));
  run_backward();
}

void Tape::run_backward() {
  try {
    while (!nodes_.empty()) {
      const std::shared_ptr<Node> node = std::move(nodes_.back());
      nodes_.pop_back();
      if (run_node(*node) && observer)
        observer->went_backward(node->op, propagated_ * sizeof(real));
    }
    uses_.clear();
  } catch (...) {
    clear();  // the loss is part of the gradients
    throw;
  }
}

bool Tape::run_node(Node& node) {
  const std::function<void(Tensor&)> backward = std::exchange(node.backward, nullptr);
  node.consumed = true;
  if (!node.filled && !node.has_losses) return false;
  Tensor received = node.filled ? std::move(node.gradient) : uninitialized(Shape{0});
  consume(node);
  if (check_finite) require_finite(received, "gradient of the output", node.op);
  propagated_ = received.size();
  backward(received);
  if (check_finite) require_finite_leaves(node.op);
  return true;
}

Tensor gradient_of(const Var& leaf) {
  require(leaf.needs_gradient(), "gradient_of", "the Var is a constant");
  return leaf.has_gradient() ? leaf.node()->gradient : zeros(leaf.shape());
}

detail::Recording::Recording(std::initializer_list<Input> inputs) {
  for (const Input& input : inputs) include(input.var);
}

detail::Recording::Recording(const std::vector<Var>& inputs) {
  for (const Var& input : inputs) include(input);
}

void detail::Recording::include(const Var& input) {
  if (input.exists()) elements += input.size();
  Tape* its = input.tape();
  if (const Node* node = input.node()) {
    require(its && !node->consumed, "record", "the pass of ", node->op, " ", node->shape,
            " is over: backward(), clear() or the end of its tape freed its inputs; record it "
            "again, or use its value as a constant, Var(y.value())");
    if (node->version > 0) its->record_use(input.node_);
    wanted = true;
    moving += has_tangent(input);
  }
  if (!its) return;
  require(!tape || tape == its, "record", "the inputs are on different tapes");
  tape = its;
}

Var detail::constant_result(const char* op, const Recording& recording, Tensor&& value) {
  Tape* tape = recording.tape;
  if (tape && tape->check_finite) require_finite(value, "value", op);
  if (tape && tape->observer)
    tape->observer->recorded(op, (recording.elements + value.size()) * sizeof(real));
  return Var(std::make_shared<Tensor>(std::move(value)), nullptr, tape);
}

Var detail::recorded_result(const char* op, const Recording& recording, Tensor&& value,
                            std::function<void(Tensor&)> backward) {
  return recording.tape->record_node(op, std::make_shared<const Tensor>(std::move(value)),
                                     recording.elements, std::move(backward));
}

Var detail::recorded_result(const char* op, const Recording& recording, Tensor&& value,
                            std::function<void(const Tensor&, Tensor&)> backward) {
  auto shared = std::make_shared<const Tensor>(std::move(value));
  return recording.tape->record_node(
      op, shared, recording.elements,
      [shared, backward = std::move(backward)](Tensor& gradient) { backward(*shared, gradient); });
}

Var checkpoint(Tape& tape, const std::function<Var(Tape&, const Var&)>& f, const Var& x) {
  if (!tape.recording || tape.tangents != Tangents::none) return f(tape, x);
  const detail::Recording inputs({x});
  require(!inputs.tape || inputs.tape == &tape, "checkpoint", "the input is on another tape");
  const PassOptions options = tape;
  Tape segment(options);
  segment.recording = false;
  segment.holding = true;
  const Var y = f(segment, segment.constant(x.value()));
  y.value();  // throws for an empty handle
  tape.random_uses = segment.random_uses;
  const bool fixed =
      std::ranges::all_of(segment.leaves_, [](const auto& leaf) { return leaf->fixed; });
  if (!x.needs_gradient() && fixed && !segment.has_losses_)
    return Var(y.shared_value(), nullptr, &tape);
  for (const auto& parameter : segment.leaves_) tape.record_use(parameter);
  // Recorded even if x needs no gradient: parameters inside f may.
  Var recorded = tape.record_node(
      "checkpoint", y.shared_value(), x.size(),
      [f, x, options, held = std::move(segment.leaves_)](Tensor& gradient) mutable {
        Tape again(options);
        again.reports = nullptr;
        const Var input = again.input(x.value());
        const Var output = f(again, input);
        held.clear();  // the new nodes hold them
        if (gradient.size() > 0 && output.needs_gradient()) {
          again.backward(output, std::move(gradient));
        } else {
          again.run_backward();  // from the losses it has added itself
        }
        if (x.needs_gradient() && input.has_gradient())
          x.add_gradient(std::move(input.node_->gradient));
      });
  recorded.node_->has_losses = segment.has_losses_;
  return recorded;
}

}  // namespace bochner::inline BOCHNER_PRECISION
