#include <algorithm>
#include <bochner/train/tasks/events/event_data.hpp>
#include <bochner/train/tasks/specimens.hpp>

namespace bochner {
namespace {

constexpr std::uint64_t longest_window = std::uint64_t(1) << 24;
constexpr std::uint64_t most_dimensions = 3;

bool are_within(const Indices& numbers, std::int32_t least, std::uint64_t limit) {
  return std::ranges::all_of(numbers.values, [&](std::int32_t number) {
    return number >= least && (number < 0 || std::uint64_t(number) < limit);
  });
}

/// Throws DataError for events that do not fit the facts.
void check_specimen(const EventBatch& batch, const EventFacts& facts) {
  const Shape& shape = batch.types.shape;
  const std::vector<std::size_t> same(shape.begin(), shape.end());
  const auto is_same = [&](const Times& times) { return std::ranges::equal(times.shape(), same); };
  const bool fits = shape.size() == 2 && shape[0] > 0 && shape[1] > 0 && shape[1] <= facts.length &&
                    batch.next_types.shape == shape && is_same(batch.times) &&
                    is_same(batch.next_times) &&
                    batch.places.size() == shape[0] * shape[1] * facts.dimensions;
  if (!fits || !are_within(batch.types, 0, facts.types) ||
      !are_within(batch.next_types, -1, facts.types))
    throw DataError("facts of events hold an example of other sizes");
}

/// Throws DataError if the data hold types that the model has not learned.
void require_fits(const EventFacts& facts, const TableShape& found, const EventSource& data) {
  require_known_names("type", facts.table.types, found.types);
  require_known_names("label", facts.table.labels, found.labels);
  if (data.types() > facts.types)
    throw DataError("data.files: an event has type ", data.types() - 1,
                    "; the model was trained on ", facts.types, " types, numbered from 0");
}

/// `shape`: as for read_events().
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

/// Cuts sequences into windows of `length` events, as in training.
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

}  // namespace

void EventFacts::check() const {
  require_size("types of events", types, most_event_types);
  require_size("events of a window", length, longest_window);
  if (dimensions > most_dimensions)
    throw DataError("facts of events claim ", dimensions, " coordinates of a place");
  if (table.types.size() > types)
    throw DataError("facts of events name ", table.types.size(), " types of ", types);
  for (const EventBatch& batch : specimens) check_specimen(batch, *this);
}

EventFacts assumed_event_facts(const Config& config) {
  EventFacts facts{.length = config.count("data.length")};
  if (config.text("data.kind") == "hawkes")
    facts.types = config.count("data.types");
  else
    facts.dimensions = event_columns(config).places.size();
  return facts;
}

OpenedEvents open_events(const Config& config, const KnownFacts& known) {
  EventFacts facts = known.of<EventFacts>();
  TableShape found = facts.table;
  std::unique_ptr<EventSource> data = event_source(config, found);
  if (known.are_exact())
    require_fits(facts, found, *data);
  else
    facts = {.types = data->types(),
             .dimensions = data->dimensions(),
             .length = config.count("data.length"),
             .table = std::move(found),
             .specimens = take_specimens(*data, data->tokens_per_example())};
  return {std::move(data), std::move(facts)};
}

std::vector<EventTable> read_events(const Config& config, TableShape& shape) {
  shape.width = 0;
  shape.names.clear();
  std::vector<EventTable> sequences;
  for_each_table(config, [&](const std::filesystem::path&, NamedArray& table) {
    number_texts(table, event_columns(config), shape, NewTypes::append);
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

std::vector<EventTable> numbered_events(NamedArray table, const EventColumns& columns,
                                        TableShape shape, std::size_t types, NewTypes unknown) {
  shape.known_types = types;
  number_texts(table, columns, shape, unknown);
  return event_tables(table, types + (unknown == NewTypes::other ? 1 : 0), columns);
}

std::vector<EventTable> windows_of_table(const NamedArray& table, const EventColumns& columns,
                                         const EventFacts& facts, NewTypes unknown) {
  return windows_of(numbered_events(table, columns, facts.table, facts.types, unknown),
                    facts.length);
}

NamedArray beside_events(const NamedArray& question, const EventColumns& columns,
                         const NamedArray& answer) {
  const std::vector<std::size_t> places = place_of_events(question, columns);
  const std::size_t rows = answer.values.shape()[0], width = answer.values.shape()[1],
                    first = places.size(), time = places.back();
  NamedArray both;
  both.values.resize({rows, first + width});
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < first; ++i) both.values(row, i) = question.values(row, places[i]);
    for (std::size_t i = 0; i < width; ++i) both.values(row, first + i) = answer.values(row, i);
  }
  if (first > 1)
    both.columns.push_back(question.columns.empty() ? "sequence" : question.columns[places[0]]);
  both.columns.push_back(question.columns.empty() ? "time" : question.columns[time]);
  both.columns.insert(both.columns.end(), answer.columns.begin(), answer.columns.end());
  if (first > 1 && question.texts.contains(places[0])) both.texts[0] = question.texts.at(places[0]);
  if (question.time == time) both.time = first - 1;
  for (const std::size_t column : answer.more_times) both.more_times.push_back(first + column);
  both.offsets = question.offsets;
  both.numeric_time = question.numeric_time, both.time_format = question.time_format;
  return both;
}

std::vector<std::string> type_columns(const EventFacts& facts) {
  std::vector<std::string> columns;
  for (std::size_t k = 0; k < facts.types; ++k)
    columns.push_back(numbered_name("type", facts.table.types, k));
  return columns;
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
    fail_over(config, "data.label_column", "must name the column of labels for a classifier of",
              "data.kind");
}

}  // namespace bochner
