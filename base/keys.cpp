#include <algorithm>
#include <bochner/base/join.hpp>
#include <bochner/base/keys.hpp>
#include <bochner/base/shape.hpp>
#include <charconv>
#include <cmath>
#include <iterator>
#include <tuple>

namespace bochner {
namespace {

/// Returns the shortest text that parses to the same double.
std::string text_of(double number) {
  char text[32];
  const bool is_whole = std::abs(number) < 1e15 && number == std::trunc(number);
  const auto end = is_whole ? std::to_chars(text, std::end(text), std::int64_t(number))
                            : std::to_chars(text, std::end(text), number);
  return std::string(text, end.ptr);
}

/// Describes how a value violates its bounds; "" if it does not.
struct Violation {
  const Bounds& bounds;

  std::string operator()(const std::int64_t* number) const { return of_number(double(*number)); }
  std::string operator()(const double* number) const { return of_number(*number); }
  std::string operator()(const std::vector<double>* numbers) const { return of_all(*numbers); }
  std::string operator()(const std::vector<std::string>* texts) const { return of_all(*texts); }
  std::string operator()(const std::string* text) const {
    if (!bounds.choices) return "";
    const std::vector<std::string> choices = bounds.choices();
    if (std::ranges::find(choices, *text) != choices.end()) return "";
    return '"' + *text + "\"; there are: " + joined(choices);
  }
  /// Flags and types that only the train layer knows have no bounds to check.
  template <class Other>
  std::string operator()(const Other*) const {
    return "";
  }

 private:
  std::string of_number(double number) const {
    const bool is_finite = std::isfinite(number);
    if (is_finite && contains(bounds.range, number)) return "";
    return text_of(number) + ": must be " + (is_finite ? text_of(bounds.range) : "finite");
  }
  template <class Item>
  std::string of_all(const std::vector<Item>& items) const {
    for (const Item& item : items)
      if (std::string violation = (*this)(&item); !violation.empty()) return violation;
    return "";
  }
};

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

bool contains(const Range& range, double number) {
  return (range.above_lowest ? number > range.lowest : number >= range.lowest) &&
         (range.below_highest ? number < range.highest : number <= range.highest);
}

std::string text_of(const Range& range) {
  const auto& [lowest, highest, above_lowest, below_highest] = range;
  const bool has_lowest = std::isfinite(lowest), has_highest = std::isfinite(highest);
  if (has_lowest && has_highest && !above_lowest && !below_highest)
    return "between " + text_of(lowest) + " and " + text_of(highest);
  std::string text;
  if (has_lowest) text = (above_lowest ? "greater than " : "at least ") + text_of(lowest);
  if (has_lowest && has_highest) text += " and ";
  if (has_highest) text += (below_highest ? "less than " : "at most ") + text_of(highest);
  return text;
}

void BoundsCheck::on_key(const Key& key) {
  const std::string violation = std::visit(Violation{key.bounds}, key.member);
  require(violation.empty(), what_, key.name, " = ", violation);
}

}  // namespace bochner
