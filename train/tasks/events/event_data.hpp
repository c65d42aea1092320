#pragma once
/// Tables of events of a config, for all tasks that learn from them.

#include <bochner/data/events/event_files.hpp>
#include <bochner/data/formats/read_array.hpp>
#include <bochner/train/tasks/facts.hpp>
#include <bochner/train/tasks/model_spec.hpp>

namespace bochner {

template <class Archive>
void serialize(Archive& archive, TableShape& shape) {
  archive(shape.width, shape.names, shape.types, shape.labels);
}

/// Reads the sequences of data.files. `shape` holds the known types and labels, and receives those
/// of the files, and width and column names of the narrowest table. Throws DataError with the name
/// of the file.
std::vector<EventTable> read_events(const Config& config, TableShape& shape);
/// Throws DataError if tables have types or labels that the model has not learned.
void require_known_names(const TableShape& known, const TableShape& found);
/// Opens windows of data.kind = "event_files" or "hawkes"; `shape` as for read_events().
std::unique_ptr<EventSource> event_source(const Config& config, TableShape& shape);
/// Cuts sequences into windows of `length` events, as in training.
std::vector<EventTable> windows_of(const std::vector<EventTable>& sequences, std::size_t length);
/// Returns how to read tables of event_files.
ReadOptions event_options(const Config& config);
/// Throws ConfigError if data.label_column and model.kind contradict each other.
void check_labels(const Config& config);

}  // namespace bochner
