#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/join.hpp>
#include <bochner/train/tasks/data_keys.hpp>
#include <bochner/train/tasks/mixer_checks.hpp>
#include <bochner/train/tasks/stack_checks.hpp>
#include <bochner/train/tasks/unused_keys.hpp>

namespace bochner {
namespace {

/// Those of kinds that were added.
std::vector<KeyCondition> uses_of_own_kinds(const Config& config) {
  std::vector<KeyCondition> uses;
  for (const ParameterRow& row : config.table().rows())
    if (!row.own_kinds.empty())
      uses.push_back(
          {{row.name},
           is_heard(config, row),
           "is a key of \"" + joined(row.own_kinds, "\", \"") + "\", which nothing names"});
  return uses;
}

bool is_for_another_choice(const Config& config, const KeyCondition& use, std::string_view name) {
  return !use.strict && !use.choice.empty() && config.is_set(use.choice) && !config.is_set(name);
}

}  // namespace

KeyCondition applies_when(const Config& config, const std::string& choice,
                          const std::vector<std::string>& values,
                          std::vector<std::string> sections) {
  return {std::move(sections), std::ranges::count(values, config.text(choice)) > 0,
          needs_value(choice, values), choice};
}

std::string needs_value(std::string_view key, const std::vector<std::string>& values) {
  return fmt::format("needs {} = {}", key, alternatives(values));
}

std::vector<UnusedKey> unused_keys(const Config& config) {
  const std::vector<std::string_view> changed = config.changed();
  std::vector<UnusedKey> keys;
  for (const auto& uses_of : {uses_of_models, uses_of_own_kinds, uses_of_data, uses_of_patches,
                              uses_of_stack, uses_of_mixers, uses_of_training})
    for (const KeyCondition& use : uses_of(config)) {
      const auto holds = [&](std::string_view key) {
        return std::ranges::any_of(use.sections, [&](auto& name) { return is_within(key, name); });
      };
      for (const std::string_view key : changed)
        if (!use.heeded && holds(key) && !is_for_another_choice(config, use, key))
          keys.push_back({std::string(key), use.demand, use.choice});
    }
  return keys;
}

}  // namespace bochner
