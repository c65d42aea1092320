#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bochner/train/config/conditions.hpp>
#include <iterator>

namespace bochner {
namespace {

using Form = KeyCondition::Form;
using Texts = std::vector<std::string>;

Texts texts_of(const ConfigValue& value) {
  if (const auto* texts = std::get_if<Texts>(&value)) return *texts;
  if (const auto* text = std::get_if<std::string>(&value)) return {*text};
  return {format_value(value)};
}

/// The conditions of one row in a config.
class Evaluation {
 public:
  /// `joining`: whether KeyTraits::joined_by counts; not where the joining key itself is asked.
  Evaluation(const Config& config, const ParameterRow& row, bool joining = true)
      : config_(config), row_(row), joining_(joining) {}

  bool applies() const { return holds(row_.applies); }
  /// The keys whose values are in the way.
  Texts obstacles() const {
    Texts keys;
    if (!applies()) add_obstacles(simplified(config_.table(), row_.applies), keys);
    return keys;
  }

 private:
  const ParameterRow& row(const std::string& name) const {
    if (const ParameterRow* found = config_.table().find(name)) return *found;
    throw std::logic_error(fmt::format("[keys] {} depends on {}: no such key", row_.name, name));
  }
  Evaluation of(const ParameterRow& row) const { return {config_, row, joining_}; }

  bool holds(const KeyCondition& condition) const {
    const auto holds_too = [this](const KeyCondition& part) { return holds(part); };
    if (condition.form == Form::all) return std::ranges::all_of(condition.parts, holds_too);
    if (condition.form == Form::any) return std::ranges::any_of(condition.parts, holds_too);
    const ParameterRow& other = row(condition.key);
    return (&other == &row_ || of(other).applies()) && has_value(other, condition);
  }
  bool has_value(const ParameterRow& other, const KeyCondition& condition) const {
    const auto is_in = [](const Texts& texts, const std::string& text) {
      return std::ranges::count(texts, text) > 0;
    };
    const auto is_wanted = [&](const std::string& text) {
      if (condition.form == Form::none_of) return !is_in(condition.values, text);
      return is_in(condition.kinds ? condition.kinds() : condition.values, text) ||
             (!condition.only_named && other.bounds.added && is_in(other.bounds.added(), text));
    };
    return condition.form == Form::applies || std::ranges::any_of(values_of(other), is_wanted);
  }
  /// The list that is chosen from in place of a key, or the key.
  const ParameterRow& source_of(const ParameterRow& other) const {
    const ParameterRow* list = config_.table().find(other.traits.replaced_by);
    return list && !config_.text_list(list->name).empty() ? *list : other;
  }
  Texts values_of(const ParameterRow& other) const {
    Texts texts = texts_of(config_.value(source_of(other)));
    const auto* joining =
        config_.table().find(fmt::format("{}.{}", section_of(other.name), other.traits.joined_by));
    if (joining_ && joining && Evaluation(config_, *joining, false).applies())
      std::ranges::move(texts_of(config_.value(*joining)), std::back_inserter(texts));
    return texts;
  }

  void add_obstacles(const KeyCondition& condition, Texts& keys) const {
    const auto fails = [this](const KeyCondition& part) { return !holds(part); };
    if (condition.form == Form::all)
      return add_obstacles(*std::ranges::find_if(condition.parts, fails), keys);
    for (const KeyCondition& part : condition.parts) add_obstacles(part, keys);
    if (condition.form == Form::any) return;
    const ParameterRow& other = row(condition.key);
    if (&other == &row_) return;
    Texts found = of(other).obstacles();
    if (found.empty()) found = {source_of(other).name};
    for (const std::string& key : found)
      if (std::ranges::count(keys, key) == 0) keys.push_back(key);
  }

  const Config& config_;
  const ParameterRow& row_;
  bool joining_;
};

struct UnusedKey {
  std::string_view name;
  Texts because;
};

std::vector<UnusedKey> unused_keys(const Config& config) {
  std::vector<UnusedKey> keys;
  for (const std::string_view name : config.changed())
    if (const Evaluation key(config, *config.table().find(name)); !key.applies())
      keys.push_back({name, key.obstacles()});
  return keys;
}

/// Whether --set has chosen another kind than the one that has the key, which a file may keep.
bool is_for_another_kind(const Config& config, const UnusedKey& key) {
  return !config.is_set(key.name) && std::ranges::any_of(key.because, [&](const auto& choice) {
    const ConfigKind kind = config.table().find(choice)->kind();
    return config.is_set(choice) && (kind == ConfigKind::text || kind == ConfigKind::text_list);
  });
}

[[noreturn]] void refuse(const Config& config, const UnusedKey& key) {
  Texts values;
  std::string where = config.location(key.name);
  for (const std::string& other : key.because) {
    values.push_back(assignment(config, other));
    if (where.empty() || config.is_set(other)) where = config.location(other);
  }
  if (where.empty()) where = config.source();
  throw ConfigError(fmt::format("{}: {} has no effect with {}; remove it", where, key.name,
                                fmt::join(values, " and ")));
}

}  // namespace

bool applies(const Config& config, const ParameterRow& row) {
  return Evaluation(config, row).applies();
}

bool applies(const Config& config, std::string_view name) {
  const ParameterRow* row = config.table().find(name);
  if (!row) throw std::logic_error(fmt::format("[keys] no key is called {}", name));
  return applies(config, *row);
}

void check_unused(const Config& config) {
  for (const UnusedKey& key : unused_keys(config))
    if (!is_for_another_kind(config, key)) refuse(config, key);
}

void check_unused_sets(const Config& config) {
  const auto is_set = [&](const auto& name) { return config.is_set(name); };
  for (const UnusedKey& key : unused_keys(config))
    if ((is_set(key.name) || std::ranges::any_of(key.because, is_set)) &&
        !is_for_another_kind(config, key))
      refuse(config, key);
}

Config without_unused(Config config) {
  for (const auto& [name, because] : unused_keys(config))
    config.set(name, config.table().find(name)->initial, "");
  return config;
}

}  // namespace bochner
