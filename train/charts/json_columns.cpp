#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/train/charts/json_columns.hpp>
#include <bochner/train/storage/json.hpp>
#include <cmath>
#include <limits>

namespace bochner {
namespace {

/// Sets the numbers of an object in line `line`, under names that begin with `prefix`.
void add_numbers(JsonColumns& columns, const Json& object, const std::string& prefix) {
  for (const auto& [key, value] : object.members()) {
    if (value.is_object()) add_numbers(columns, value, prefix + key + ".");
    const std::optional<double> number = value.number();
    if (!number) continue;
    const std::string name = prefix + key;
    const auto at = std::size_t(std::ranges::find(columns.names, name) - columns.names.begin());
    if (at == columns.names.size()) {
      columns.names.push_back(name);
      columns.values.emplace_back();
    }
    columns.values[at].resize(columns.lines, std::numeric_limits<double>::quiet_NaN());
    columns.values[at].push_back(*number);
  }
}

}  // namespace

JsonColumns read_json_columns(std::string_view text, const std::string& source) {
  JsonColumns columns;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end == text.npos ? end : end + 1));
    if (line.find_first_not_of(" \r") == line.npos) continue;
    const Json object = Json::parse(line);
    if (!object.is_object() && end == text.npos) break;
    if (!object.is_object()) throw DataError(source, ":", number, ": not a JSON object");
    add_numbers(columns, object, "");
    ++columns.lines;
  }
  if (columns.names.empty()) throw DataError(source, ": holds no numbers in JSON objects to plot");
  for (std::vector<double>& values : columns.values)
    values.resize(columns.lines, std::numeric_limits<double>::quiet_NaN());
  return columns;
}

Chart chart_of(const JsonColumns& columns, std::optional<std::size_t> x, std::size_t y) {
  Curve curve;
  for (std::size_t line = 0; line < columns.lines; ++line) {
    const double at = x ? columns.values[*x][line] : double(line + 1);
    const double value = columns.values[y][line];
    if (std::isfinite(at) && !std::isnan(value)) curve.add(at, value);
  }
  Chart chart{
      .title = columns.names[y], .x = {x ? columns.names[*x] : "line"}, .y = {columns.names[y]}};
  chart.add("", std::move(curve), Mark::line);
  return chart;
}

}  // namespace bochner
