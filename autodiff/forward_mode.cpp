#include <bochner/autodiff/forward_mode.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <optional>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Turns tangents off while it lives: rules need no tangents of tangents.
class WithoutTangents {
 public:
  explicit WithoutTangents(Tape& tape)
      : tape_(tape), mode_(std::exchange(tape.tangents, Tangents::none)) {}
  ~WithoutTangents() { tape_.tangents = mode_; }
  WithoutTangents(const WithoutTangents&) = delete;
  WithoutTangents& operator=(const WithoutTangents&) = delete;

 private:
  Tape& tape_;
  Tangents mode_;
};

/// Moves the gradients of parameters away and back.
class SetAside {
 public:
  explicit SetAside(const std::vector<NamedParameter>& parameters) : parameters_(parameters) {
    for (const NamedParameter& named : parameters) gradients_.push_back(take(*named.parameter));
  }
  ~SetAside() {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      Parameter& parameter = *parameters_[i].parameter;
      parameter.zero_gradient();
      Tape tape;
      if (gradients_[i]) tape(parameter).add_gradient(std::move(*gradients_[i]));
    }
  }
  SetAside(const SetAside&) = delete;
  SetAside& operator=(const SetAside&) = delete;

  static std::optional<Tensor> take(Parameter& parameter) {
    if (!parameter.has_gradient()) return {};
    parameter.zero_gradient();
    return std::move(parameter.gradient());
  }

 private:
  const std::vector<NamedParameter>& parameters_;
  std::vector<std::optional<Tensor>> gradients_;
};

void require_directions(const char* op, std::size_t count, std::size_t directions) {
  require(count == directions, op, directions, " directions for ", count, " arrays");
}

void require_direction(const char* op, const Shape& shape, const Tensor& v) {
  require(v.shape() == shape, op, "a direction has shape ", v.shape(), ", its array ", shape);
}

std::vector<Tensor> product(const std::function<Var(Tape&)>& loss,
                            const std::vector<NamedParameter>& parameters,
                            const std::vector<Tensor>& v, const PassOptions& options) {
  const ParameterTangents directions(parameters, v);
  const SetAside gradients(parameters);
  Tape tape(options);
  backward_of_tangent(tape, loss(tape));
  std::vector<Tensor> products;
  for (const NamedParameter& named : parameters) {
    std::optional<Tensor> one = SetAside::take(*named.parameter);
    products.push_back(one ? std::move(*one) : zeros(named.parameter->shape()));
  }
  return products;
}

[[noreturn]] void refuse(const char* op, const char* what) {
  throw TangentError(std::string("[") + op + "] " + what);
}

/// Throws unless an op after a likelihood is linear in its `moving` inputs with tangents.
void require_linear(const char* op, std::initializer_list<TangentRule> rules, std::size_t moving) {
  for (const TangentRule& rule : rules) {
    const Var d = tangent_of(rule.input);
    if (!d.exists()) continue;
    if (!d.needs_gradient())
      refuse(op, "adds a term to the loss that is no likelihood, so its Fisher matrix is unknown");
    const bool is_factor = rule.kind == TangentRule::factor && moving == 1;
    if (rule.kind != TangentRule::linear && !is_factor)
      refuse(op, "is not linear and comes after a likelihood, so its Fisher matrix is unknown");
  }
}

}  // namespace

Var TangentRule::operator()(const Var& d, const Var& y) const {
  Var part;
  call_(map_, d, y, part);
  return part;
}

void detail::record_tangent(const char* op, const Recording& inputs, const Var& y,
                            std::initializer_list<TangentRule> rules) {
  Tape& tape = *inputs.tape;
  const std::size_t recorded = tape.size();
  const bool constant = tape.tangents == Tangents::fisher;
  const WithoutTangents off(tape);
  std::size_t used = 0;
  bool after = false, curved = false;  // whether a likelihood precedes the op, or is the op
  Var sum;
  for (const TangentRule& rule : rules) {
    const Var d = tangent_of(rule.input);
    if (!d.exists()) continue;
    ++used;
    after = after || d.needs_gradient();
    curved = curved || after || rule.kind == TangentRule::likelihood;
    const Var part = rule(d, y);
    sum = sum.exists() ? sum + part : part;
  }
  if (used != inputs.moving) refuse(op, "has no tangent rule: jvp, hvp and natural_cg need one");
  if (constant && after) require_linear(op, rules, inputs.moving);
  if (sum.shape() != y.shape()) sum = broadcast_to(sum, y.shape());
  if (!constant || curved) return set_tangent(y, sum);
  set_tangent(y, Var(sum.shared_value(), nullptr, &tape));
  tape.drop_after(recorded);
}

void set_tangent(const Var& x, const Var& tangent) {
  require(x.needs_gradient() && (!tangent.exists() || tangent.shape() == x.shape()), "set_tangent",
          "needs a Var with a gradient, and a tangent of its shape ", x.shape());
  x.node_->tangent = tangent.exists() ? std::make_shared<const Var>(tangent) : nullptr;
}

bool has_tangent(const Var& x) {
  return x.node() && x.node()->tangent && x.tape() && x.tape()->tangents != Tangents::none;
}

bool has_tangents(const std::vector<Var>& inputs) {
  return std::ranges::any_of(inputs, has_tangent);
}

Var tangent_of(const Var& x) { return x.node() && x.node()->tangent ? *x.node()->tangent : Var(); }

ParameterTangents::ParameterTangents(const std::vector<NamedParameter>& parameters,
                                     const std::vector<Tensor>& v)
    : parameters_(parameters) {
  require_directions("tangents", parameters.size(), v.size());
  for (std::size_t i = 0; i < v.size(); ++i)
    require_direction("tangents", parameters[i].parameter->shape(), v[i]);
  Tape tape;
  for (std::size_t i = 0; i < v.size(); ++i)
    if (Parameter& one = *parameters[i].parameter; one.is_trained())
      set_tangent(tape(one), Var(v[i]));
}

ParameterTangents::~ParameterTangents() {
  Tape tape;
  for (const NamedParameter& named : parameters_)
    if (named.parameter->is_trained()) set_tangent(tape(*named.parameter), Var());
}

void backward_of_tangent(Tape& tape, const Var& loss) {
  const Var tangent = tangent_of(loss);
  const bool curved = tangent.exists() && tangent.needs_gradient();
  if (!curved && tape.tangents == Tangents::fisher)
    refuse("fisher_product",
           "the loss has no likelihood whose Fisher matrix is known: cross_entropy, "
           "mean_squared_error or huber");
  if (curved) tape.backward(tangent);
}

Dual jvp(const std::function<Var(Tape&, const std::vector<Var>&)>& f, const std::vector<Tensor>& x,
         const std::vector<Tensor>& v) {
  require_directions("jvp", x.size(), v.size());
  Tape tape({.tangents = Tangents::exact});
  std::vector<Var> leaves;
  for (std::size_t i = 0; i < x.size(); ++i) {
    require_direction("jvp", x[i].shape(), v[i]);
    leaves.push_back(tape.input(x[i]));
    set_tangent(leaves[i], Var(v[i]));
  }
  const Var y = f(tape, leaves), tangent = tangent_of(y);
  return {y.value(), tangent.exists() ? tangent.value() : zeros(y.shape())};
}

std::vector<Tensor> hvp(const std::function<Var(Tape&)>& loss,
                        const std::vector<NamedParameter>& parameters, const std::vector<Tensor>& v,
                        PassOptions options) {
  options.tangents = Tangents::exact;
  return product(loss, parameters, v, options);
}

std::vector<Tensor> fisher_product(const std::function<Var(Tape&)>& loss,
                                   const std::vector<NamedParameter>& parameters,
                                   const std::vector<Tensor>& v, PassOptions options) {
  options.tangents = Tangents::fisher;
  return product(loss, parameters, v, options);
}

}  // namespace bochner::inline BOCHNER_PRECISION
