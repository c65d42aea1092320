#include <algorithm>
#include <bochner/data/files/text.hpp>
#include <bochner/train/tasks/table_options.hpp>

namespace bochner {

namespace {

/// Only the columns of the events, so that others may hold text; all where numbers choose them.
ReadOptions event_options(const Config& config) {
  const EventColumns columns = event_columns(config);
  CsvOptions csv;
  csv.time_format = config.text("data.time_format");
  if (!csv.time_format.empty()) csv.time = columns.time;
  for (const std::string& column : {columns.time, columns.type, columns.sequence})
    if (!column.empty()) csv.columns.push_back(column);
  if (std::any_of(csv.columns.begin(), csv.columns.end(), parse_count)) csv.columns.clear();
  return {csv, ""};
}

}  // namespace

EventColumns event_columns(const Config& config) {
  auto columns = read_spec<EventColumns>(config, "data");
  const std::string& time = config.text("data.time_column");
  if (!time.empty()) columns.time = time;
  return columns;
}

ReadOptions table_options(const Config& config) {
  if (config.text("data.kind") == "event_files") return event_options(config);
  auto csv = read_spec<CsvOptions>(config, "data");
  if (!csv.columns.empty() && !csv.time.empty()) csv.columns.push_back(csv.time);
  return {csv, ""};
}

}  // namespace bochner
