#pragma once
/// Tables of events of a config, and the facts that models learn from them.

#include <bochner/data/events/event_files.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/serialize.hpp>
#include <bochner/train/tasks/task_kinds.hpp>

namespace bochner {

template <class Archive>
void serialize(Archive& archive, TableShape& shape) {
  archive(shape.width, shape.names, shape.types, shape.labels, shape.has_dates);
}

template <class Archive>
void serialize(Archive& archive, EventBatch& batch) {
  serialize_indices(archive, batch.types);
  serialize_indices(archive, batch.next_types);
  serialize_array(archive, batch.times);
  serialize_array(archive, batch.next_times);
  archive(batch.places);
}

/// Number and names of types, and the length of a window.
struct EventFacts {
  static constexpr const char* kind = "events";
  std::uint64_t types = 2;
  std::uint64_t dimensions = 0;  ///< of the places of events
  std::uint64_t length = 64;     ///< events of a training window
  TableShape table = {};         ///< of files
  std::vector<EventBatch> specimens = {};

  template <class Archive>
  void serialize(Archive& archive) {
    archive(types, dimensions, length, table, specimens);
  }
  void check() const;
};

/// Returns facts for a model without data, from the config alone.
EventFacts assumed_event_facts(const Config& config);

/// Events with their types numbered as in the facts.
struct OpenedEvents {
  std::unique_ptr<EventSource> data;
  EventFacts facts;
};
/// Opens windows of data.kind = "event_files" or "hawkes". Throws DataError for data that do not
/// fit known facts, if they may not extend these.
OpenedEvents open_events(const Config& config, const KnownFacts& known);

/// Reads the sequences of data.files. `shape` holds the known types and labels, and receives those
/// of the files, and width and column names of the narrowest table. Throws DataError with the name
/// of the file.
std::vector<EventTable> read_events(const Config& config, TableShape& shape);
/// Returns the sequences of a table, with texts numbered as in `shape`; see event_tables().
std::vector<EventTable> numbered_events(NamedArray table, const EventColumns& columns,
                                        TableShape shape, std::size_t types,
                                        NewTypes unknown = NewTypes::refuse);
/// Cuts rows of a table into windows as in training, types numbered as in the facts.
std::vector<EventTable> windows_of_table(const NamedArray& table, const EventColumns& columns,
                                         const EventFacts& facts,
                                         NewTypes unknown = NewTypes::refuse);
/// Returns an answer to each row with the columns of sequence, if any, and time before it.
NamedArray beside_events(const NamedArray& question, const EventColumns& columns,
                         const NamedArray& answer);
/// Returns column names "type_0", ... or "type_NAME", ...
std::vector<std::string> type_columns(const EventFacts& facts);
/// Returns how to read tables of event_files.
ReadOptions event_options(const Config& config);
/// Throws ConfigError if data.label_column and model.kind contradict each other.
void check_labels(const Config& config);

}  // namespace bochner
