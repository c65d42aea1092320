#pragma once
/// Times whose parts are in several columns: year and month, or date and hour.

#include <bochner/train/tasks/config_templates/table_inference.hpp>
#include <filesystem>

namespace bochner {

/// Returns the table with such columns as its times, if they can be read and increase from row to
/// row or within each of several series: a year with a month, quarter or week (and day, hour,
/// minute), or dates that repeat with a column of times of day.
std::optional<InferredTable> with_time_parts(const std::filesystem::path& file,
                                             const InferredTable& table);

}  // namespace bochner
