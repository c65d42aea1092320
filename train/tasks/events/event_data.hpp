#pragma once
/// What the tasks of events and of timed tokens share: where their data come from.

#include <bochner/data/events/event_files.hpp>
#include <bochner/data/vocabularies.hpp>
#include <bochner/train/tasks/model_spec.hpp>

namespace bochner {

/// The sequences of data.files; throws DataError with the name of the file.
/// `shape` receives that of the narrowest table and the texts of types and labels, behind those
/// that the config knows.
std::vector<EventTable> read_events(const Config& config, TableShape& shape);
/// Those of data.kind = "event_files", in windows, or "hawkes".
std::unique_ptr<EventSource> event_source(const Config& config, TableShape& shape);
inline Vocabularies names_in(const TableShape& shape) {
  return {.types = shape.types, .labels = shape.labels};
}
/// Cut into windows as those of the training.
std::vector<EventTable> windows_of(const std::vector<EventTable>& sequences, std::size_t length);

}  // namespace bochner
