#include <bochner/autodiff/wildcard.hpp>
#include <bochner/optim/groups.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

bool is_spectral(const std::string& name) {
  const std::string path = "." + name;
  return matches("*.features.*", path) || matches("*.density.*", path) ||
         matches("*.time_kernel.*", path) || matches("*.time.*", path) ||
         matches("*.frequencies", path);
}

bool is_factor(double value) { return std::isfinite(value) && value >= 0; }

void check(const ParameterGroup& group) {
  require(is_factor(group.lr_factor.value_or(0)), "optim.groups", "\"", group.match,
          "\": lr_factor = ", group.lr_factor.value_or(0), ": must be finite and at least 0");
  require(is_factor(group.weight_decay.value_or(0)), "optim.groups", "\"", group.match,
          "\": weight_decay = ", group.weight_decay.value_or(0), ": must be finite and at least 0");
}

}  // namespace

std::vector<ParameterSettings> resolve_groups(const std::vector<NamedParameter>& parameters,
                                              double weight_decay,
                                              const std::vector<ParameterGroup>& groups) {
  std::vector<ParameterSettings> settings(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const bool decayed =
        parameters[i].parameter->shape().size() >= 2 && !is_spectral(parameters[i].name);
    settings[i].weight_decay = decayed ? weight_decay : 0;
  }
  for (const ParameterGroup& group : groups) {
    check(group);
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

}  // namespace bochner::inline BOCHNER_PRECISION
