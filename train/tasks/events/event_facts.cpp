#include <algorithm>
#include <bochner/train/tasks/events/event_facts.hpp>
#include <bochner/train/tasks/specimens.hpp>
#include <bochner/train/tasks/task_kinds.hpp>

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
  require_known_names(facts.table, found);
  if (data.types() > facts.types)
    throw DataError("data.files: an event has type ", data.types() - 1,
                    "; the model was trained on ", facts.types, " types, numbered from 0");
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

std::vector<EventTable> windows_of_table(const NamedArray& table, const EventColumns& columns,
                                         const EventFacts& facts) {
  NamedArray numbered = table;
  TableShape shape = facts.table;
  number_texts(numbered, columns, shape, false);
  return windows_of(event_tables(numbered, facts.types, columns), facts.length);
}

std::vector<std::string> type_columns(const EventFacts& facts) {
  std::vector<std::string> columns;
  for (std::size_t k = 0; k < facts.types; ++k)
    columns.push_back(numbered_name("type", facts.table.types, k));
  return columns;
}

}  // namespace bochner
