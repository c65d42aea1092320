#pragma once
/// Inference of the columns of time, type and sequence, by their names and values.

#include <bochner/train/tasks/config_templates/table_inference.hpp>

namespace bochner {

/// Returns whether a column is named like a source of readings: sensor, device_id.
bool names_a_source(const std::string& column);
/// Returns the column of times: named so, or the first one of dates.
std::optional<std::size_t> time_column(const InferredTable& table);
/// Returns the column of event types: named so, or the one with the fewest different texts if all
/// numbers are times or ids.
std::optional<std::size_t> type_column(const InferredTable& table, std::size_t time);
/// Returns the column that identifies sequences of events: named like an id, or the only other one
/// of texts.
std::optional<std::size_t> sequence_column(const InferredTable& table, std::size_t time,
                                           std::size_t type);

}  // namespace bochner
