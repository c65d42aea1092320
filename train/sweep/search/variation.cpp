#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/text.hpp>
#include <bochner/train/sweep/search/variation.hpp>
#include <cctype>
#include <cmath>
#include <cstring>
#include <set>
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

}  // namespace bochner
