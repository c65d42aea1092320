#include <algorithm>
#include <bochner/base/join.hpp>
#include <bochner/base/keys.hpp>
#include <bochner/base/shape.hpp>
#include <charconv>
#include <cmath>
#include <iterator>

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

}  // namespace

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
