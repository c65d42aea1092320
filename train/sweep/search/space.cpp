#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/text.hpp>
#include <bochner/train/sweep/search/space.hpp>
#include <cctype>
#include <cmath>
#include <cstring>
#include <stdexcept>

namespace bochner {
namespace {

constexpr std::size_t most_doublings = 64;
constexpr double largest_whole = 1e15;

template <class... Args>
void demand_of(bool condition, const Variation& variation, fmt::format_string<const Args&...> text,
               const Args&... args) {
  if (!condition)
    throw std::invalid_argument(
        fmt::format("--vary {}: {}", variation.key, fmt::format(text, args...)));
}

/// Finds `what` from `begin` on, outside of quotes, brackets and braces; npos if it is not there.
std::size_t find_outside(std::string_view text, std::string_view what, std::size_t begin) {
  int depth = 0;
  char quote = 0;
  for (std::size_t i = std::min(begin, text.size()); i < text.size(); ++i) {
    const char c = text[i];
    if (depth == 0 && !quote && text.substr(i).starts_with(what)) return i;
    if (quote ? c == quote : c == '"' || c == '\'') {
      quote = quote ? 0 : c;
    } else if (!quote) {
      depth += (c == '[' || c == '{') - (c == ']' || c == '}');
    }
  }
  return text.npos;
}

std::vector<std::string> split_values(std::string_view text) {
  std::vector<std::string> values;
  std::size_t begin = 0, comma;
  while ((comma = find_outside(text, ",", begin)) != text.npos) {
    values.emplace_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  values.emplace_back(text.substr(begin));
  return values;
}

void set_doublings(Variation& variation) {
  const auto [low, high, logarithmic, whole] = *variation.range;
  demand_of(std::log2(high / low) < most_doublings, variation, "more than {} doublings",
            most_doublings);
  for (double value = low; value <= high; value *= 2)
    variation.values.push_back(number_text(value));
  variation.range.reset();
}

/// Parses "LOW..HIGH:SCALE"; false if it is not a range.
bool parse_range(std::string_view text, Variation& variation) {
  const std::size_t dots = text.find("..");
  if (dots == text.npos || !parse_number(text.substr(0, dots))) return false;
  const std::size_t colon = std::min(text.find(':', dots), text.size());
  const auto high = parse_number(text.substr(dots + 2, colon - dots - 2));
  const std::string scale(text.substr(std::min(colon + 1, text.size())));
  const SearchRange range{*parse_number(text.substr(0, dots)), high.value_or(0),
                          scale.starts_with("log")};
  const bool known = scale == "log" || scale == "log2" || scale == "linear" || colon == text.size();
  demand_of(high && known && range.low < range.high, variation,
            "{}: write LOW..HIGH, such as 1e-4..1e-2:log; scales are linear, log and log2", text);
  demand_of(!range.logarithmic || range.low > 0, variation,
            "{}: a logarithmic range begins above 0", text);
  variation.range = range;
  if (scale == "log2") set_doublings(variation);
  return true;
}

Condition parse_condition(std::string_view text, const Variation& variation) {
  const std::size_t equals = text.find('=');
  demand_of(equals != text.npos && equals > 0 && equals + 1 < text.size(), variation,
            "if {}: write KEY=VALUE,VALUE after if", text);
  return {std::string(trimmed(text.substr(0, equals))),
          split_values(trimmed(text.substr(equals + 1)))};
}

/// Throws if names or numbers are repeated; 1e-3 and 0.001 are one number.
void require_different(const Variation& variation) {
  std::set<std::string> names;
  std::set<double> numbers;
  for (const std::string& value : variation.values) {
    const std::optional<double> number = parse_number(value);
    const bool is_new =
        names.insert(plain_name(value)).second && (!number || numbers.insert(*number).second);
    demand_of(is_new, variation, "{} is given twice", value);
  }
}

void require_known(const Variation& variation, const std::vector<Variation>& variations) {
  const Condition& condition = *variation.condition;
  const auto end = std::ranges::find(variations, variation.key, &Variation::key);
  const auto other = std::find_if(variations.begin(), end,
                                  [&](const Variation& one) { return one.key == condition.key; });
  demand_of(other != end && !other->range, variation,
            "if {}: give a --vary of that key with a list of values before this one",
            condition.key);
  for (const std::string& value : condition.values)
    demand_of(std::ranges::count(other->values, value) == 1, variation,
              "if {}={}: not one of its values", condition.key, value);
}

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

Variation parse_variation(std::string_view text) {
  const std::size_t equals = text.find('='), condition = find_outside(text, " if ", equals);
  Variation variation{std::string(text.substr(0, equals))};
  if (condition != text.npos)
    variation.condition = parse_condition(text.substr(condition + 4), variation);
  if (equals != text.npos) {
    const std::string_view values =
        text.substr(0, std::min(condition, text.size())).substr(equals + 1);
    if (!parse_range(values, variation)) variation.values = split_values(values);
  }
  const bool whole = variation.range ||
                     (!variation.values.empty() && std::ranges::count(variation.values, "") == 0);
  if (variation.key.empty() || !whole)
    throw std::invalid_argument(
        fmt::format("--vary {}: write KEY=VALUE,VALUE, such as train.seed=1,2,3", text));
  return variation;
}

void require_sound(const std::vector<Variation>& variations) {
  std::set<std::string> keys;
  for (const Variation& variation : variations) {
    demand_of(keys.insert(variation.key).second, variation, "given twice");
    require_different(variation);
    if (variation.condition) require_known(variation, variations);
  }
}

bool holds(const Variation& variation, const std::vector<Variation>& variations,
           const std::vector<std::string>& values) {
  if (!variation.condition) return true;
  const auto other = std::ranges::find(variations, variation.condition->key, &Variation::key);
  return std::ranges::count(variation.condition->values,
                            values[std::size_t(other - variations.begin())]) > 0;
}

std::string number_text(double number) {
  const bool whole = number == std::floor(number) && std::fabs(number) < largest_whole;
  return whole ? fmt::format("{:.0f}", number + 0.0) : format_number(number);  // -0 is 0
}

std::string plain_name(std::string text) {
  for (char& c : text)
    if (!std::isalnum(static_cast<unsigned char>(c)) && !std::strchr("._-+", c)) c = '_';
  return text;
}

std::vector<std::string> short_names(const std::vector<Variation>& variations) {
  std::vector<std::string> words, keys;
  for (const Variation& variation : variations) {
    keys.push_back(variation.key);
    words.push_back(variation.key.substr(variation.key.rfind('.') + 1));
  }
  return std::set<std::string>(words.begin(), words.end()).size() == words.size() ? words : keys;
}

Space::Space(std::vector<Variation> variations) : variations_(std::move(variations)) {
  require_sound(variations_);
  for (Variation& variation : variations_) {
    ordered_.push_back(variation.range || all_numbers(variation.values));
    if (ordered_.back())
      std::ranges::stable_sort(variation.values, {},
                               [](const auto& one) { return parse_number(one); });
  }
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
