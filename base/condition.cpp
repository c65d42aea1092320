#include <algorithm>
#include <bochner/base/condition.hpp>
#include <optional>
#include <tuple>
#include <utility>

namespace bochner {
namespace {

using Form = KeyCondition::Form;

bool contains(std::span<const KeyCondition> parts, const KeyCondition& part) {
  return std::ranges::find(parts, part) != parts.end();
}

/// `a` and `b` as parts of a condition of this form, whose own parts are not nested.
KeyCondition combined(Form form, const KeyCondition& a, const KeyCondition& b) {
  KeyCondition both{.form = form};
  for (const KeyCondition& side : {a, b})
    for (const KeyCondition& part : side.form == form ? side.parts : std::vector{side})
      if (!contains(both.parts, part)) both.parts.push_back(part);
  return both.parts.size() == 1 ? both.parts[0] : both;
}

/// The condition with the values of both, where they differ in nothing else.
std::optional<KeyCondition> joined_values(const KeyCondition& a, const KeyCondition& b) {
  KeyCondition joined = a;
  joined.values = b.values;
  if (a.form != Form::one_of || joined != b) return {};
  joined.values = a.values;
  for (const std::string& value : b.values)
    if (std::ranges::count(joined.values, value) == 0) joined.values.push_back(value);
  return joined;
}

/// Joins two alternatives that differ in the values of one key at most.
std::optional<KeyCondition> merged(const KeyCondition& a, const KeyCondition& b) {
  if (is_contained(a, b)) return a;
  if (is_contained(b, a)) return b;
  const std::span<const KeyCondition> demands = demands_of(a), others = demands_of(b);
  if (demands.size() != others.size()) return {};
  const auto [at, other] = std::ranges::mismatch(demands, others);
  if (!std::equal(at + 1, demands.end(), other + 1)) return {};
  const std::optional<KeyCondition> joined = joined_values(*at, *other);
  if (!joined || demands.size() == 1) return joined;
  KeyCondition both{.form = Form::all, .parts = {demands.begin(), demands.end()}};
  both.parts[std::size_t(at - demands.begin())] = *joined;
  return both;
}

}  // namespace

bool operator==(const KeyCondition& a, const KeyCondition& b) {
  const auto members = [](const KeyCondition& c) {
    return std::tie(c.form, c.key, c.values, c.trait, c.only_named, c.parts);
  };
  return members(a) == members(b);
}

KeyCondition when(std::string key, std::vector<std::string> values) {
  return {.form = Form::one_of, .key = std::move(key), .values = std::move(values)};
}

KeyCondition unless(std::string key, std::vector<std::string> values) {
  return {.form = Form::none_of, .key = std::move(key), .values = std::move(values)};
}

KeyCondition applies(std::string key) { return {.form = Form::applies, .key = std::move(key)}; }

KeyCondition operator&&(KeyCondition a, const KeyCondition& b) { return combined(Form::all, a, b); }

KeyCondition operator||(KeyCondition a, const KeyCondition& b) { return combined(Form::any, a, b); }

std::span<const KeyCondition> alternatives_of(const KeyCondition& condition) {
  if (condition.form == Form::any) return condition.parts;
  return {&condition, 1};
}

std::span<const KeyCondition> demands_of(const KeyCondition& condition) {
  if (condition.form == Form::all) return condition.parts;
  return {&condition, 1};
}

bool is_contained(const KeyCondition& a, const KeyCondition& b) {
  const std::span<const KeyCondition> demands = demands_of(b);
  return std::ranges::all_of(demands_of(a),
                             [&](const KeyCondition& part) { return contains(demands, part); });
}

KeyCondition either(const KeyCondition& a, const KeyCondition& b) {
  if (const std::optional<KeyCondition> both = merged(a, b)) return *both;
  const std::span<const KeyCondition> first = alternatives_of(a);
  std::vector<KeyCondition> parts(first.begin(), first.end());
  for (KeyCondition next : alternatives_of(b)) {
    for (auto part = parts.begin(); part != parts.end();) {
      const std::optional<KeyCondition> both = merged(*part, next);
      if (!both) {
        ++part;
        continue;
      }
      next = *both;
      parts.erase(part);
      part = parts.begin();  // what is joined may fit those before
    }
    parts.push_back(next);
  }
  return parts.size() == 1 ? parts[0] : KeyCondition{.form = Form::any, .parts = std::move(parts)};
}

}  // namespace bochner
