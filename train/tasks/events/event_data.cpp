#include <algorithm>
#include <bochner/train/tasks/data_tables.hpp>
#include <bochner/train/tasks/events/event_data.hpp>
#include <bochner/train/tasks/task_kinds.hpp>

namespace bochner {

std::vector<EventTable> read_events(const Config& config, TableShape& shape) {
  shape.width = 0;
  shape.names.clear();
  std::vector<EventTable> sequences;
  for_each_table(config, [&](const std::filesystem::path&, NamedArray& table) {
    number_texts(table, event_columns(config), shape, true);
    for (EventTable& events : event_tables(table, most_event_types, event_columns(config)))
      sequences.push_back(std::move(events));
    const std::size_t width = table.values.shape()[1];
    if (shape.width == 0 || width < shape.width) {
      shape.width = width;
      shape.names = table.columns;
    }
  });
  return sequences;
}

void require_known_names(const TableShape& known, const TableShape& found) {
  require_known_names("type", known.types, found.types);
  require_known_names("label", known.labels, found.labels);
}

std::unique_ptr<EventSource> event_source(const Config& config, TableShape& shape) {
  if (config.text("data.kind") == "hawkes") {
    auto spec = read_spec<HawkesSpec>(config, "data");
    spec.length = config.count("data.length");
    return std::make_unique<HawkesEvents>(spec, example_set(config));
  }
  std::vector<EventTable> sequences = read_events(config, shape);
  const EventFilesSpec spec{config.count("data.length"), config.number("data.validation"),
                            config.count("train.seed"), shape.types.size()};
  return std::make_unique<EventFiles>(std::move(sequences), spec);
}

std::vector<EventTable> windows_of(const std::vector<EventTable>& sequences, std::size_t length) {
  std::vector<EventTable> windows;
  for (const EventTable& events : sequences)
    for (std::size_t i = 0; i < events.rows.size(); ++i) {
      const std::size_t left = std::min(length, events.rows.size() - i);
      if (i % length == 0)
        windows.push_back({{{1, left}, {}}, Times(std::vector<std::size_t>{1, left}), {}});
      const std::size_t d = events.places.size() / events.rows.size();
      windows.back().places.insert(windows.back().places.end(),
                                   events.places.begin() + std::ptrdiff_t(i * d),
                                   events.places.begin() + std::ptrdiff_t((i + 1) * d));
      windows.back().types.values.push_back(events.types.values[i]);
      windows.back().times(0, i % length) = events.times(0, i);
      windows.back().rows.push_back(events.rows[i]);
    }
  return windows;
}

ReadOptions event_options(const Config& config) {
  const EventColumns columns = event_columns(config);
  std::vector<std::string> all{columns.time, columns.type, columns.sequence, columns.label};
  all.insert(all.end(), columns.places.begin(), columns.places.end());
  CsvOptions csv = only_columns(config, columns.time, all);
  csv.texts = {columns.type, columns.sequence, columns.label};
  csv.labels = {columns.sequence};
  return {csv, ""};
}

void check_labels(const Config& config) {
  const bool named = !config.text("data.label_column").empty();
  if (config.text("model.kind") == "classifier" && !named)
    fail(config, "data.label_column",
         "must name the column of labels for a classifier of " + assignment(config, "data.kind"),
         "data.kind");
}

}  // namespace bochner
