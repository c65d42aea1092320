#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/format.hpp>
#include <bochner/train/tasks/key_advice.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>

namespace bochner {
namespace {

/// Returns the key without ".kind": a section is an alias of its kind.
std::string without_kind(const std::string& key) {
  constexpr std::string_view kind = ".kind";
  return key.ends_with(kind) ? key.substr(0, key.size() - kind.size()) : key;
}

std::vector<std::string> keys_called(const std::string& name) {
  const auto is_called = [&](const std::string& key) {
    return key == name || key.ends_with("." + name);
  };
  std::vector<std::string> keys;
  const ParameterTable table = registered_parameters();
  for (const ParameterRow& row : table.rows()) {
    if (is_called(row.name))
      keys.push_back(row.name);
    else if (is_called(without_kind(row.name)))
      keys.push_back(without_kind(row.name));
  }
  const auto parts = [](const std::string& key) { return std::ranges::count(key, '.'); };
  std::ranges::stable_sort(keys, {}, parts);
  std::erase_if(keys, [&, fewest = keys.empty() ? 0 : parts(keys[0])](const std::string& key) {
    return parts(key) > fewest;
  });
  return keys;
}

}  // namespace

std::string key_advice(const std::string& option, const std::string& value) {
  std::string name = option.substr(std::min(option.find_first_not_of('-'), option.size()));
  if (name.empty()) return "";
  std::ranges::replace(name, '-', '_');
  std::string advice;
  for (const std::string& key : keys_called(name))
    advice += fmt::format("{}--set {}", advice.empty() ? "" : " or ",
                          shell_word(key + "=" + (value.empty() ? "..." : value)));
  return advice;
}

}  // namespace bochner
