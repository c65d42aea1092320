#include <algorithm>
#include <bochner/train/tasks/data_tables.hpp>
#include <bochner/train/tasks/events/event_data.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <bochner/train/tasks/vocabularies.hpp>

namespace bochner {

std::vector<EventTable> read_events(const Config& config, TableShape& shape) {
  const Vocabularies names = stored_vocabularies(config);
  shape.types = names.types;
  shape.labels = names.labels;
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

}  // namespace bochner
