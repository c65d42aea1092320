#include <bochner/autodiff/wildcard.hpp>
#include <bochner/optim/optimizer.hpp>
#include <cmath>
#include <map>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

bool is_spectral(const std::string& name) {
  const std::string path = "." + name;
  return matches("*.features.*", path) || matches("*.density.*", path) ||
         matches("*.time_kernel.*", path) || matches("*.time.*", path) ||
         matches("*.frequencies", path);
}

/// What a feature map learns of its spectrum: the density, and the radius of normalised queries.
bool is_density(const std::string& name) {
  return matches("*.features.density.*", name) || matches("*.features.log_scale", name) ||
         matches("*.features.log_head_scale", name) || matches("*.log_sharpness", name);
}

void check(const ParameterGroup& group, const char* name, std::optional<double> value) {
  require(!value || (std::isfinite(*value) && *value >= 0), "optim.groups", "\"", group.match,
          "\": ", name, " = ", value.value_or(0), ": must be finite and at least 0");
}

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

std::vector<ParameterSettings> resolve_groups(const std::vector<NamedParameter>& parameters,
                                              double weight_decay, double density_lr_factor,
                                              const std::vector<ParameterGroup>& groups) {
  std::vector<ParameterSettings> settings(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const bool decayed =
        parameters[i].parameter->shape().size() >= 2 && !is_spectral(parameters[i].name);
    settings[i].weight_decay = decayed ? weight_decay : 0;
    settings[i].lr_factor = is_density(parameters[i].name) ? density_lr_factor : 1;
  }
  for (const ParameterGroup& group : groups) {
    check(group, "lr_factor", group.lr_factor);
    check(group, "weight_decay", group.weight_decay);
    bool used = false;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (!matches(group.match, parameters[i].name)) continue;
      used = true;
      settings[i].lr_factor = group.lr_factor.value_or(settings[i].lr_factor);
      settings[i].weight_decay = group.weight_decay.value_or(settings[i].weight_decay);
    }
    require(used, "optim.groups", "\"", group.match,
            "\" matches no parameter; `bochner inspect` lists their names");
  }
  return settings;
}

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

}  // namespace bochner::inline BOCHNER_PRECISION
