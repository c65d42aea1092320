#include <bochner/optim/adam.hpp>
#include <bochner/optim/optimizer.hpp>
#include <bochner/optim/sgd.hpp>
#include <cmath>
#include <map>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

// Its pieces would be updated twice, perhaps at the same time.
void refuse_shared(const std::vector<NamedParameter>& parameters) {
  std::map<const Parameter*, const std::string*> seen;
  for (const NamedParameter& named : parameters) {
    const auto [first, fresh] = seen.emplace(named.parameter, &named.name);
    require(fresh, "optim", named.name, " is the same parameter as ", *first->second,
            "; list it once");
  }
}

}  // namespace

Optimizer::Optimizer(std::string kind, std::vector<NamedParameter> parameters,
                     std::vector<ParameterSettings> settings, std::vector<std::string> moments)
    : kind_(std::move(kind)),
      parameters_(std::move(parameters)),
      settings_(std::move(settings)),
      updates_(zeros({parameters_.size()})),
      loop_(parameters_) {
  require(settings_.size() == parameters_.size(), "optim", settings_.size(), " settings for ",
          parameters_.size(), " parameters");
  refuse_shared(parameters_);
  for (std::string& name : moments) {
    Moment& moment = moments_.emplace_back(Moment{std::move(name), {}});
    for (const NamedParameter& named : parameters_)
      moment.tensors.push_back(zeros(named.parameter->shape()));
  }
}

void Optimizer::count_updates() {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& parameter = *parameters_[i].parameter;
    require(parameter.value().size() == loop_.size_of(i), "optim", parameters_[i].name,
            " has changed its shape to ", parameter.shape(), "; make a new optimizer");
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (parameters_[i].parameter->has_gradient()) updates_.data()[i] += real(1);
}

void Optimizer::step(double learning_rate) {
  require(std::isfinite(learning_rate) && learning_rate >= 0, "optim", "learning rate ",
          learning_rate, ": must be finite and at least 0");
  count_updates();
  loop_([&](std::size_t index, std::size_t begin, std::size_t end) {
    Parameter& parameter = *parameters_[index].parameter;
    if (!parameter.has_gradient()) return;
    update({index, begin, end - begin, parameter.value().data() + begin,
            parameter.gradient().data() + begin},
           learning_rate * settings_[index].lr_factor, settings_[index].weight_decay);
  });
}

void Optimizer::zero_gradients() {
  for (const NamedParameter& named : parameters_) named.parameter->zero_gradient();
}

std::vector<NamedTensor> Optimizer::state() {
  std::vector<NamedTensor> tensors = {{kind_ + ".updates", &updates_}};
  for (Moment& moment : moments_)
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      tensors.push_back(
          {kind_ + "." + moment.name + "/" + parameters_[i].name, &moment.tensors[i]});
  return tensors;
}

std::unique_ptr<Optimizer> make_optimizer(const OptimizerSpec& spec,
                                          const std::vector<NamedParameter>& parameters) {
  require(std::isfinite(spec.weight_decay) && spec.weight_decay >= 0, "optim",
          "weight_decay = ", spec.weight_decay, ": must be finite and at least 0");
  std::vector<ParameterSettings> settings =
      resolve_groups(parameters, spec.weight_decay, spec.groups);
  if (spec.kind == "sgd")
    return std::make_unique<Sgd>(parameters, std::move(settings), spec.momentum, spec.nesterov);
  require(spec.kind == "adam" || spec.kind == "adamw", "optim", "no kind \"", spec.kind,
          "\"; choose sgd, adam or adamw");
  const WeightDecay decay = spec.kind == "adam" ? WeightDecay::in_gradient : WeightDecay::decoupled;
  return std::make_unique<Adam>(parameters, std::move(settings), decay, spec.beta1, spec.beta2,
                                spec.epsilon);
}

}  // namespace bochner::inline BOCHNER_PRECISION
