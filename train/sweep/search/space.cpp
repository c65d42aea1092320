#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/text.hpp>
#include <bochner/train/sweep/search/space.hpp>
#include <cmath>

namespace bochner {
namespace {

constexpr std::size_t most_levels = 64;

bool all_numbers(const std::vector<std::string>& values) {
  return std::ranges::all_of(values,
                             [](const auto& value) { return parse_number(value).has_value(); });
}

/// Range on its scale; each whole number has a cell around it.
struct Stretch {
  double low, high;
  bool logarithmic;

  explicit Stretch(const SearchRange& range) : logarithmic(range.logarithmic) {
    const double half = range.whole ? 0.5 : 0;
    low = scaled(range.low - half);
    high = scaled(range.high + half);
  }
  double scaled(double number) const { return logarithmic ? std::log(number) : number; }
  double at(double part) const {
    const double number = low + part * (high - low);
    return logarithmic ? std::exp(number) : number;
  }
  double part(double number) const {
    return std::clamp((scaled(number) - low) / (high - low), 0.0, 1.0);
  }
};

/// Returns the number of values of a discrete axis.
std::uint64_t count_of(const Variation& variation) {
  if (!variation.range) return variation.values.size();
  return std::uint64_t(std::floor(variation.range->high) - std::ceil(variation.range->low)) + 1;
}

std::string value_of(const Variation& variation, std::uint64_t index) {
  if (!variation.range) return variation.values[index];
  return number_text(std::ceil(variation.range->low) + double(index));
}

std::uint64_t index_of(const Variation& variation, const std::string& value) {
  if (variation.range) return std::uint64_t(*parse_number(value) - std::ceil(variation.range->low));
  return std::uint64_t(std::ranges::find(variation.values, value) - variation.values.begin());
}

std::size_t cell_of(double part, std::size_t cells) {
  return std::min(cells - 1, std::size_t(part * double(cells)));
}

}  // namespace

Space::Space(std::vector<Variation> variations) : variations_(std::move(variations)) {
  require_sound(variations_);
  for (Variation& variation : variations_) {
    ordered_.push_back(variation.range || all_numbers(variation.values));
    if (ordered_.back())
      std::ranges::stable_sort(variation.values, {},
                               [](const auto& one) { return parse_number(one); });
  }
}

bool Space::is_continuous(std::size_t axis) const {
  return variations_[axis].range && !variations_[axis].range->whole;
}

std::vector<double> Space::levels(std::size_t axis) const {
  const auto& [key, values, range, condition] = variations_[axis];
  std::vector<double> levels;
  if (!range) {
    for (std::size_t i = 0; i < values.size(); ++i)
      levels.push_back((double(i) + 0.5) / double(values.size()));
    return levels;
  }
  const double count = range->high - range->low + 1;
  const std::size_t shown = std::size_t(std::min(count, double(most_levels)));
  for (std::size_t i = 0; i < shown; ++i) {
    const double part = count > double(shown) ? (double(i) + 0.5) / double(shown)
                                              : Stretch(*range).part(range->low + double(i));
    levels.push_back(part);
  }
  return levels;
}

std::string Space::value_at(const Variation& variation, double part) const {
  if (!variation.range) return variation.values[cell_of(part, variation.values.size())];
  const SearchRange& range = *variation.range;
  const double number = std::clamp(Stretch(range).at(part), range.low, range.high);
  if (range.whole) return fmt::format("{:.0f}", std::round(number) + 0.0);  // -0 is 0
  return format_number(
      std::clamp(*parse_number(fmt::format("{:.4g}", number)), range.low, range.high));
}

Values Space::at(const std::vector<double>& point) const {
  Values values;
  for (std::size_t i = 0; i < size(); ++i) {
    const bool varied = holds(variations_[i], variations_, values);
    values.push_back(varied ? value_at(variations_[i], point[i]) : "");
  }
  return values;
}

bool Space::find_unknown(Values& begun, const std::vector<double>& point,
                         const std::set<Values>& known) const {
  const std::size_t axis = begun.size();
  if (axis == size()) return !known.contains(begun);
  const Variation& variation = variations_[axis];
  const bool varied = holds(variation, variations_, begun);
  const std::uint64_t count = varied ? count_of(variation) : 1;
  const std::uint64_t first = varied ? index_of(variation, value_at(variation, point[axis])) : 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    begun.push_back(varied ? value_of(variation, (first + i) % count) : "");
    if (find_unknown(begun, point, known)) return true;
    begun.pop_back();
  }
  return false;
}

std::optional<Values> Space::find_unknown(const std::vector<double>& point,
                                          const std::set<Values>& known) const {
  for (std::size_t axis = 0; axis < size(); ++axis)
    if (is_continuous(axis)) return std::nullopt;
  Values values;
  if (!find_unknown(values, point, known)) return std::nullopt;
  return values;
}

double Space::place_of(const Variation& variation, const std::string& value) const {
  if (value.empty()) return 0.5;
  if (variation.range) return Stretch(*variation.range).part(parse_number(value).value_or(0));
  const auto found = std::ranges::find(variation.values, value);
  return (double(found - variation.values.begin()) + 0.5) / double(variation.values.size());
}

std::vector<double> Space::place(const Values& values) const {
  std::vector<double> point;
  for (std::size_t i = 0; i < size(); ++i) point.push_back(place_of(variations_[i], values[i]));
  return point;
}

std::vector<std::string> sets_of(const std::vector<Variation>& variations, const Values& values) {
  std::vector<std::string> sets;
  for (std::size_t i = 0; i < variations.size(); ++i)
    if (!values[i].empty()) sets.push_back(variations[i].key + "=" + values[i]);
  return sets;
}

}  // namespace bochner
