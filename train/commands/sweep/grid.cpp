#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/commands/command_line.hpp>
#include <bochner/train/commands/sweep/grid.hpp>
#include <bochner/train/laboratory/statistics.hpp>
#include <bochner/train/storage/json.hpp>
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

/// Runs that differ in nothing but the seed.
struct Row {
  std::vector<std::string> values;
  std::vector<const SweepResult*> runs;
};

/// One word for each variation, without that for the seed.
std::vector<std::string> without_seed(std::vector<std::string> words,
                                      const std::vector<Variation>& variations) {
  const auto seed = std::ranges::find(variations, "train.seed", &Variation::key);
  if (seed != variations.end()) words.erase(words.begin() + (seed - variations.begin()));
  return words;
}

std::vector<Row> rows_of(const std::vector<Variation>& variations,
                         const std::vector<SweepResult>& results) {
  std::vector<Row> rows;
  for (const SweepResult& result : results) {
    std::vector<std::string> values = without_seed(result.point.values, variations);
    auto row = std::ranges::find(rows, values, &Row::values);
    if (row == rows.end()) row = rows.insert(rows.end(), {std::move(values), {}});
    row->runs.push_back(&result);
  }
  return rows;
}

/// "1.61" of one run, "1.61 (1.60 to 1.62)" of several, "" of none that has it.
std::string cell(const Row& row, const std::string& measure) {
  std::vector<double> numbers;
  for (const SweepResult* run : row.runs)
    for (const auto& [name, number] : run->measures)
      if (name == measure) numbers.push_back(number);
  if (numbers.empty()) return "";
  const double mean = mean_of(numbers);
  if (numbers.size() == 1) return fmt::format("{:.4g}", mean);
  const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
  return fmt::format("{:.4g} ({:.4g} to {:.4g})", mean, *low, *high);
}

std::vector<std::string> measures_of(const std::vector<SweepResult>& results) {
  std::vector<std::string> names;
  for (const SweepResult& result : results)
    for (const auto& [name, number] : result.measures)
      if (std::ranges::count(names, name) == 0) names.push_back(name);
  return names;
}

std::string table_line(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
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

Measures last_validation(std::string_view metrics) {
  Measures measures;
  for (std::size_t end; (end = metrics.find('\n')) != metrics.npos;
       metrics.remove_prefix(end + 1)) {
    const Json line = Json::parse(metrics.substr(0, end));
    if (!line["valid"].number()) continue;
    measures.clear();
    for (const auto& [name, value] : line.members())
      if (value.number() && name != "step") measures.emplace_back(name, *value.number());
  }
  return measures;
}

std::string summary(const std::vector<Variation>& variations,
                    const std::vector<SweepResult>& results) {
  const std::vector<std::string> measures = measures_of(results);
  std::vector<std::string> head;
  for (const Variation& variation : variations) head.push_back(variation.key);
  head = without_seed(std::move(head), variations);
  head.push_back("runs");
  head.insert(head.end(), measures.begin(), measures.end());
  std::string table = table_line(head) + table_line(std::vector<std::string>(head.size(), "---"));
  for (const Row& row : rows_of(variations, results)) {
    std::vector<std::string> cells = row.values;
    cells.push_back(std::to_string(row.runs.size()));
    for (const std::string& measure : measures) cells.push_back(cell(row, measure));
    table += table_line(cells);
  }
  return table;
}

std::string result_json(const SweepResult& result, const std::string& run) {
  Json line = {{"set", result.point.sets}, {"run", run}};
  for (const auto& [name, number] : result.measures) line.set(name, number);
  return line.line() + "\n";
}

}  // namespace bochner
