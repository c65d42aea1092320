#include <algorithm>
#include <bochner/train/commands/command_line.hpp>
#include <bochner/train/commands/sweep/grid.hpp>
#include <cctype>
#include <cstring>
#include <set>

namespace bochner {
namespace {

/// Cuts at commas that stand outside of quotes, brackets and braces.
std::vector<std::string> split_values(std::string_view text) {
  std::vector<std::string> values(1);
  int depth = 0;
  char quote = 0;
  for (const char c : text) {
    if (quote ? c == quote : c == '"' || c == '\'') {
      quote = quote ? 0 : c;
    } else if (!quote) {
      depth += (c == '[' || c == '{') - (c == ']' || c == '}');
    }
    if (c == ',' && depth == 0 && !quote) {
      values.emplace_back();
    } else {
      values.back() += c;
    }
  }
  return values;
}

/// The last words of the keys, or the whole keys where these are not all different.
std::vector<std::string> short_names(const std::vector<Variation>& variations) {
  std::vector<std::string> words, keys;
  for (const Variation& variation : variations) {
    keys.push_back(variation.key);
    words.push_back(variation.key.substr(variation.key.rfind('.') + 1));
  }
  return std::set<std::string>(words.begin(), words.end()).size() == words.size() ? words : keys;
}

/// Fit to stand in the name of a directory.
std::string plain(std::string text) {
  for (char& c : text)
    if (!std::isalnum(static_cast<unsigned char>(c)) && !std::strchr("._-+", c)) c = '_';
  return text;
}

void require_different(const std::vector<Variation>& variations) {
  std::set<std::string> keys;
  for (const auto& [key, values] : variations) {
    demand(keys.insert(key).second, "--vary {}: given twice", key);
    std::set<std::string> names;
    for (const std::string& value : values)
      demand(names.insert(plain(value)).second, "--vary {}: {} stands there twice", key, value);
  }
}

}  // namespace

Variation parse_variation(std::string_view text) {
  const std::size_t equals = text.find('=');
  const Variation variation{
      std::string(text.substr(0, equals)),
      equals == text.npos ? std::vector<std::string>{} : split_values(text.substr(equals + 1))};
  const auto& [key, values] = variation;
  demand(!key.empty() && !values.empty() && std::ranges::count(values, "") == 0,
         "--vary {}: write KEY=VALUE,VALUE, such as train.seed=1,2,3", text);
  return variation;
}

std::vector<GridPoint> grid(const std::vector<Variation>& variations, std::size_t most) {
  require_different(variations);
  const std::vector<std::string> names = short_names(variations);
  std::vector<GridPoint> points(1);
  for (std::size_t i = 0; i < variations.size(); ++i) {
    std::vector<GridPoint> longer;
    for (const GridPoint& point : points) {
      for (const std::string& value : variations[i].values) {
        GridPoint next = point;
        next.name += (i > 0 ? "," : "") + names[i] + "=" + plain(value);
        next.values.push_back(value);
        next.sets.push_back(variations[i].key + "=" + value);
        longer.push_back(std::move(next));
      }
      demand(longer.size() <= most, "--vary: more than {} combinations; vary less at a time", most);
    }
    points = std::move(longer);
  }
  return points;
}

}  // namespace bochner
