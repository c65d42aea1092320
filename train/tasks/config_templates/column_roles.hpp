#pragma once
/// Which columns of a table say when, what and whose, by their names and by what they hold.

#include <bochner/train/tasks/config_templates/table_inference.hpp>

namespace bochner {

/// Whether a column is called like that of what readings are of: sensor, device_id.
bool names_a_source(const std::string& column);
/// Of dates, or of numbers that are called so.
std::optional<std::size_t> time_column(const InferredTable& table);
/// Of events: called so, or where no number but the time is more than a name the one of texts that
/// has the fewest.
std::optional<std::size_t> type_column(const InferredTable& table, std::size_t time);
/// Of events: what tells their sequences apart, by its name, or the only texts beside the types.
std::optional<std::size_t> sequence_column(const InferredTable& table, std::size_t time,
                                           std::size_t type);

}  // namespace bochner
