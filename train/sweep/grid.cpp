#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/join.hpp>
#include <bochner/data/files/digest.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/config/usage.hpp>
#include <bochner/train/run/instruments/statistics.hpp>
#include <bochner/train/run/log/file_tail.hpp>
#include <bochner/train/run/run_directory.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/sweep/grid.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>

namespace bochner {
namespace {

/// Runs that differ only in the seed.
struct Row {
  std::vector<std::string> values;
  std::vector<const SweepResult*> runs;
};

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

/// Returns "1.61" for one run, "1.61 (1.60 to 1.62)" for several, "" if none has it.
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

GridPoint with_value(GridPoint point, const std::string& key, const std::string& name,
                     const std::string& value) {
  point.name += (point.name.empty() ? "" : ",") + name + "=" + plain_name(value);
  point.values.push_back(value);
  point.sets.push_back(key + "=" + value);
  return point;
}

/// Shortens a name so that it fits in a file system with ".log" appended.
std::string short_name(std::string name) {
  constexpr std::size_t longest = 251;
  if (name.size() <= longest) return name;
  const std::string digest = fmt::format("-{:016x}", digest_of_elements(name));
  return name.substr(0, longest - digest.size()) + digest;
}

}  // namespace

std::vector<GridPoint> grid(const std::vector<Variation>& variations, std::size_t most) {
  require_sound(variations);
  const std::vector<std::string> names = short_names(variations);
  std::vector<GridPoint> points(1);
  for (std::size_t i = 0; i < variations.size(); ++i) {
    demand(!variations[i].range,
           "--vary {}: a range is for --search random, sobol or bayes; a grid takes a list",
           variations[i].key);
    std::vector<GridPoint> longer;
    for (const GridPoint& point : points) {
      if (holds(variations[i], variations, point.values)) {
        for (const std::string& value : variations[i].values)
          longer.push_back(with_value(point, variations[i].key, names[i], value));
      } else {
        longer.push_back(point);
        longer.back().values.emplace_back();
      }
      demand(longer.size() <= most, "--vary: more than {} combinations; vary fewer values", most);
    }
    points = std::move(longer);
  }
  for (GridPoint& point : points) point.name = short_name(std::move(point.name));
  return points;
}

Measures last_validation(std::string_view metrics) {
  Measures measures;
  for_each_line(metrics, [&](std::string_view text, std::size_t) {
    const Json line = Json::parse(text);
    if (!line["valid"].number()) return;
    measures.clear();
    for (const auto& [name, value] : line.members())
      if (value.number() && name != "step") measures.emplace_back(name, *value.number());
  });
  return measures;
}

std::string names_in(std::string_view metrics) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (name != "step" && std::ranges::count(names, name) == 0) names.push_back(name);
  };
  for (const auto& [name, number] : last_validation(metrics)) add(name);
  for_each_line(metrics, [&](std::string_view text, std::size_t) {
    const Json line = Json::parse(text);
    for (const auto& [name, value] : line.members())
      if (value.number()) add(name);
  });
  return names.empty() ? "it has none" : fmt::format("it has {}", joined(names));
}

std::string summary(const std::vector<Variation>& variations,
                    const std::vector<SweepResult>& results) {
  const std::vector<std::string> measures = measures_of(results);
  std::vector<std::string> head;
  for (const Variation& variation : variations) head.push_back(variation.key);
  head = without_seed(std::move(head), variations);
  head.push_back("runs");
  head.insert(head.end(), measures.begin(), measures.end());
  Table table{std::move(head), {}};
  for (const Row& row : rows_of(variations, results)) {
    std::vector<std::string>& cells = table.rows.emplace_back(row.values);
    cells.push_back(std::to_string(row.runs.size()));
    for (const std::string& measure : measures) cells.push_back(cell(row, measure));
  }
  return markdown(table);
}

std::string result_json(const SweepResult& result, const std::string& run) {
  Json line = {{"set", result.point.sets}, {"run", run}};
  for (const auto& [name, number] : result.measures) line.set(name, number);
  return line.line() + "\n";
}

Config trial_config(const std::string& file, const std::string& name,
                    const std::vector<std::string>& sets) {
  try {
    return read_config(file, sets);
  } catch (const ConfigError& error) {
    throw ConfigError(fmt::format("{}: {}", name, error.what()));
  }
}

bool has_run(FileStorage& storage, const Path& path, const Config& config) {
  if (!storage.exists(path / config_name)) return false;
  const Config found = parse_config(RunDirectory::read(storage, path).config(),
                                    (path / config_name).string(), registered_parameters());
  const std::vector<ConfigChange> different = changes(found, config);
  if (different.empty()) return true;
  throw ConfigError(fmt::format("{}: was made with {} = {}, not {}; choose another --runs DIR",
                                path.string(), different[0].name, format_value(different[0].before),
                                format_value(different[0].after)));
}

}  // namespace bochner
