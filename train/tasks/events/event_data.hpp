#pragma once
/// Tables of events as a config names them, for all tasks that learn from them.

#include <bochner/data/events/event_files.hpp>
#include <bochner/data/formats/read_array.hpp>
#include <bochner/train/tasks/facts.hpp>
#include <bochner/train/tasks/model_spec.hpp>

namespace bochner {

template <class Archive>
void serialize(Archive& archive, TableShape& shape) {
  archive(shape.width, shape.names, shape.types, shape.labels);
}

/// The sequences of data.files; throws DataError with the name of the file.
/// `shape` comes in with the types and labels that are known, and goes out with those of the files
/// added, and with width and names of the columns of the narrowest table.
std::vector<EventTable> read_events(const Config& config, TableShape& shape);
/// Throws DataError where tables have types or labels that the model has not learned.
void require_known_names(const TableShape& known, const TableShape& found);
/// Windows of data.kind = "event_files", or "hawkes"; `shape` as for read_events().
std::unique_ptr<EventSource> event_source(const Config& config, TableShape& shape);
/// Cut into windows as those of the training.
std::vector<EventTable> windows_of(const std::vector<EventTable>& sequences, std::size_t length);
/// How tables of event_files are read.
ReadOptions event_options(const Config& config);
/// Throws ConfigError where data.label_column and model.kind do not fit.
void check_labels(const Config& config);

}  // namespace bochner
