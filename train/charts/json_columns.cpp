#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/train/charts/json_columns.hpp>
#include <bochner/train/storage/json.hpp>
#include <cmath>
#include <unordered_map>

namespace bochner {
namespace {

/// Adds lines to columns.
class ColumnReader {
 public:
  ColumnReader(JsonColumns& columns, const std::string& source)
      : columns_(columns), source_(source) {}

  /// Adds the numbers of an object in the present line, under names that begin with `prefix`.
  void add(const Json& object, const std::string& prefix) {
    for (const auto& [key, value] : object.members()) {
      if (value.is_object()) add(value, prefix + key + ".");
      const std::optional<double> number = value.number();
      if (number) columns_.values[column(prefix + key)].push_back({columns_.lines, *number});
    }
  }

 private:
  std::size_t column(const std::string& name) {
    const auto [place, is_new] = places_.try_emplace(name, columns_.names.size());
    if (!is_new) return place->second;
    if (columns_.names.size() == most_json_columns)
      throw DataError(source_, ": more than ", most_json_columns,
                      " names of numbers; write numbers of one kind under one name");
    columns_.names.push_back(name);
    columns_.values.emplace_back();
    return place->second;
  }

  JsonColumns& columns_;
  const std::string& source_;
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace

JsonColumns read_json_columns(std::string_view text, const std::string& source) {
  JsonColumns columns;
  ColumnReader reader(columns, source);
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end == text.npos ? end : end + 1));
    if (line.find_first_not_of(" \r") == line.npos) continue;
    const Json object = Json::parse(line);
    if (!object.is_object() && end == text.npos) break;
    if (!object.is_object()) throw DataError(source, ":", number, ": not a JSON object");
    reader.add(object, "");
    ++columns.lines;
  }
  if (columns.names.empty()) throw DataError(source, ": holds no numbers in JSON objects to plot");
  return columns;
}

Chart chart_of(const JsonColumns& columns, std::optional<std::size_t> x, std::size_t y) {
  using Number = JsonColumns::Number;
  Curve curve;
  for (const auto& [line, value] : columns.values[y]) {
    double at = double(line + 1);
    if (x) {
      const std::vector<Number>& places = columns.values[*x];
      const auto place = std::ranges::lower_bound(places, line, {}, &Number::line);
      if (place == places.end() || place->line != line) continue;
      at = place->value;
    }
    if (std::isfinite(at) && !std::isnan(value)) curve.add(at, value);
  }
  Chart chart{
      .title = columns.names[y], .x = {x ? columns.names[*x] : "line"}, .y = {columns.names[y]}};
  chart.add("", std::move(curve), Mark::line);
  return chart;
}

}  // namespace bochner
