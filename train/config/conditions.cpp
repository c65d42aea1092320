#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/join.hpp>
#include <bochner/train/config/conditions.hpp>
#include <iterator>
#include <optional>
#include <ranges>

namespace bochner {
namespace {

using Form = KeyCondition::Form;
using Texts = std::vector<std::string>;

Texts texts_of(const ConfigValue& value) {
  if (const auto* texts = std::get_if<Texts>(&value)) return *texts;
  if (const auto* text = std::get_if<std::string>(&value)) return {*text};
  return {format_value(value)};
}

/// "\"a\", \"b\" or \"c\"", of numbers and flags without quotes.
std::string values_text(const ParameterTable& table, const KeyCondition& condition) {
  const ParameterRow* row = table.find(condition.key);
  const bool is_text =
      !row || row->kind() == ConfigKind::text || row->kind() == ConfigKind::text_list;
  return is_text ? alternatives(condition.values) : joined(condition.values, " or ");
}

std::string text_of_one(const ParameterTable& table, const KeyCondition& condition) {
  std::string_view key = condition.key;
  if (!condition.trait.empty()) return fmt::format("a {} with {}", key, condition.trait);
  const std::string values = values_text(table, condition);
  if (condition.form == Form::applies)
    return fmt::format("{} in use", key.substr(0, key.size() - (key.ends_with(".kind") ? 5 : 0)));
  if (condition.form == Form::none_of)
    return std::string(key) + (values.empty() ? " set" : " other than " + values);
  return values.empty() ? fmt::format("a {} of your own", key)
                        : fmt::format("{} = {}", key, values);
}

/// What the key of a condition, or the keys of all alternatives, demand for their own effect.
KeyCondition implied_by(const ParameterTable& table, const KeyCondition& condition) {
  if (condition.parts.empty()) {
    const ParameterRow* row = table.find(condition.key);
    return row ? row->applies : KeyCondition{};
  }
  const KeyCondition first = implied_by(table, condition.parts[0]);
  const auto is_same = [&](const KeyCondition& part) { return implied_by(table, part) == first; };
  const bool all = condition.form == Form::all;
  return all || std::ranges::all_of(condition.parts, is_same) ? first : KeyCondition{};
}

/// The demands of a condition for which `is_kept` holds.
template <class IsKept>
KeyCondition kept(const KeyCondition& condition, const IsKept& is_kept) {
  KeyCondition some;
  for (const KeyCondition& demand : demands_of(condition))
    if (is_kept(demand)) some = some && demand;
  return some;
}

bool all_demand(std::span<const KeyCondition> alternatives, const KeyCondition& demand) {
  return std::ranges::all_of(alternatives,
                             [&](const KeyCondition& one) { return is_contained(demand, one); });
}

/// The demands that all alternatives of a condition share, where `by` is one of them and what it
/// implies holds only with the rest of some alternative; else the condition.
KeyCondition without_implied(const KeyCondition& condition, const KeyCondition& by,
                             const KeyCondition& implied) {
  const std::span<const KeyCondition> all = alternatives_of(condition),
                                      known = alternatives_of(implied);
  const KeyCondition shared = kept(all[0], [&](const KeyCondition& demand) {
    return all_demand(all, demand) && !all_demand(known, demand);
  });
  const auto is_covered = [&](const KeyCondition& one) {
    return std::ranges::any_of(all, [&](const KeyCondition& alternative) {
      return is_contained(
          kept(alternative,
               [&](const KeyCondition& demand) { return !is_contained(demand, shared); }),
          one);
    });
  };
  const bool is_enough = is_contained(by, shared) && std::ranges::all_of(known, is_covered);
  return is_enough ? shared : condition;
}

/// Two demands on the values of one key as one; empty where they are none or contradict each other.
std::optional<KeyCondition> of_one_key(const KeyCondition& a, const KeyCondition& b) {
  if (a.form != Form::one_of && b.form == Form::one_of) return of_one_key(b, a);
  if (a.key.empty() || a.key != b.key || a.kinds || b.kinds || b.form == Form::applies) return {};
  KeyCondition both = a;
  const auto is_in_b = [&](const std::string& value) {
    return std::ranges::count(b.values, value) > 0;
  };
  std::erase_if(both.values, [&](const std::string& value) {
    return is_in_b(value) != (a.form == b.form && a.form == Form::one_of);
  });
  if (a.form == Form::none_of)
    both.values.insert(both.values.end(), b.values.begin(), b.values.end());
  return both.values.empty() ? std::nullopt : std::optional(both);
}

/// The conditions of one row in a config.
class Evaluation {
 public:
  /// `joining`: whether KeyTraits::joined_by counts; not where the joining key itself is asked,
  /// which an added kind does not have.
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
             (joining_ && !condition.only_named && other.bounds.added &&
              is_in(other.bounds.added(), text));
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
                                joined(values, " and ")));
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

KeyCondition simplified(const ParameterTable& table, const KeyCondition& condition) {
  KeyCondition simple = condition;  // from the inside out
  const std::span<const KeyCondition> demands = demands_of(alternatives_of(condition)[0]);
  for (const KeyCondition& demand : demands | std::views::reverse)
    if (const KeyCondition implied = implied_by(table, demand); !implied.always())
      simple = without_implied(simple, demand, implied);
  std::vector<KeyCondition> parts;
  for (const KeyCondition& demand : demands_of(simple)) {
    const auto same = std::ranges::find_if(
        parts, [&](const KeyCondition& part) { return of_one_key(part, demand).has_value(); });
    if (same == parts.end())
      parts.push_back(demand);
    else
      *same = *of_one_key(*same, demand);
  }
  return parts.size() == 1 ? parts[0] : KeyCondition{.form = Form::all, .parts = parts};
}

std::string condition_text(const ParameterTable& table, const KeyCondition& condition) {
  if (condition.form != Form::all && condition.form != Form::any)
    return text_of_one(table, condition);
  const bool all = condition.form == Form::all;
  const auto text = [&](const KeyCondition& part) {
    const std::string words = condition_text(table, part);
    return all && part.form == Form::any ? '(' + words + ')' : words;
  };
  return joined(condition.parts | std::views::transform(text), all ? " and " : ", or ");
}

std::string condition_text(const ParameterTable& table, const ParameterRow& row) {
  return condition_text(table, simplified(table, row.applies));
}

}  // namespace bochner
