#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bochner/train/config/conditions.hpp>
#include <bochner/train/config/parameters.hpp>
#include <optional>
#include <ranges>

namespace bochner {
namespace {

using Form = KeyCondition::Form;

/// "\"a\", \"b\" or \"c\"", of numbers and flags without quotes.
std::string values_text(const ParameterTable& table, const KeyCondition& condition) {
  const ParameterRow* row = table.find(condition.key);
  const bool is_text =
      !row || row->kind() == ConfigKind::text || row->kind() == ConfigKind::text_list;
  return is_text ? alternatives(condition.values)
                 : fmt::format("{}", fmt::join(condition.values, " or "));
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

}  // namespace

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
  return fmt::format(
      "{}", fmt::join(condition.parts | std::views::transform(text), all ? " and " : ", or "));
}

std::string condition_text(const ParameterTable& table, const ParameterRow& row) {
  return condition_text(table, simplified(table, row.applies));
}

}  // namespace bochner
