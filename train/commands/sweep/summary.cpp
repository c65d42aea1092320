#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/commands/sweep/summary.hpp>
#include <bochner/train/storage/json.hpp>

namespace bochner {
namespace {

/// Runs that differ in nothing but the seed.
struct Row {
  std::vector<std::string> values;
  std::vector<const SweepResult*> runs;
};

std::vector<std::size_t> columns_of(const std::vector<Variation>& variations) {
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < variations.size(); ++i)
    if (variations[i].key != "train.seed") columns.push_back(i);
  return columns;
}

std::vector<Row> rows_of(const std::vector<std::size_t>& columns,
                         const std::vector<SweepResult>& results) {
  std::vector<Row> rows;
  for (const SweepResult& result : results) {
    std::vector<std::string> values;
    for (const std::size_t column : columns) values.push_back(result.point.values[column]);
    auto row = std::find_if(rows.begin(), rows.end(),
                            [&](const Row& other) { return other.values == values; });
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
  double mean = 0;
  for (const double number : numbers) mean += number / double(numbers.size());
  if (numbers.size() == 1) return fmt::format("{:.4g}", mean);
  const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
  return fmt::format("{:.4g} ({:.4g} to {:.4g})", mean, *low, *high);
}

std::vector<std::string> measures_of(const std::vector<SweepResult>& results) {
  std::vector<std::string> names;
  for (const SweepResult& result : results)
    for (const auto& [name, number] : result.measures)
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return names;
}

std::string table_line(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

}  // namespace

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
  const std::vector<std::size_t> columns = columns_of(variations);
  const std::vector<std::string> measures = measures_of(results);
  std::vector<std::string> head;
  for (const std::size_t column : columns) head.push_back(variations[column].key);
  head.push_back("runs");
  head.insert(head.end(), measures.begin(), measures.end());
  std::string table = table_line(head) + table_line(std::vector<std::string>(head.size(), "---"));
  for (const Row& row : rows_of(columns, results)) {
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
