#pragma once
/// Sequences with labels as a config describes them, for the tasks that see such.

#include <bochner/data/events/labelled_events.hpp>
#include <bochner/train/config/config.hpp>

namespace bochner {

/// Images, shapes, texts, expressions, or sequences of events. `shape` receives that of the tables
/// that they are from, if they are. Throws DataError, and std::invalid_argument for other data.
std::unique_ptr<LabelledSequences> labelled_sequences(const Config& config, TableShape& shape);
LabelledEventsSpec labelled_events_spec(const Config& config);

}  // namespace bochner
