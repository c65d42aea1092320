#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/tasks/unheeded_keys.hpp>

namespace bochner {
namespace {

bool is_for_another_kind(const Config& config, const std::string& choice, std::string_view name) {
  return !choice.empty() && config.is_set(choice) && !config.is_set(name);
}

}  // namespace

std::vector<UnheededKey> changed_keys(const Config& config,
                                      const std::vector<UnheededSections>& sections) {
  const std::vector<std::string_view> changed = config.changed();
  std::vector<UnheededKey> keys;
  for (const auto& [names, demand, choice] : sections) {
    const auto holds = [&](std::string_view key) {
      return std::ranges::any_of(names, [&](auto& name) { return is_within(key, name); });
    };
    for (const std::string_view key : changed)
      if (holds(key) && !is_for_another_kind(config, choice, key))
        keys.push_back({std::string(key), demand, choice});
  }
  return keys;
}

std::string needs_value(std::string_view key, const std::vector<std::string>& values) {
  return fmt::format("needs {} = {}", key, alternatives(values));
}

}  // namespace bochner
