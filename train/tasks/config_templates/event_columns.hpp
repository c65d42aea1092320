#pragma once
#include <bochner/train/tasks/config_templates/table_inference.hpp>
#include <filesystem>

namespace bochner {

/// Columns of a log of events, by index, and data.time_format of times that are numbers but dates.
struct LogColumns {
  std::size_t time;
  std::optional<std::size_t> type, sequence;
  std::string time_format = "";
  std::size_t sequences = 1;
};
/// Returns the columns of a log with a column of types; see type_column(). Throws DataError if its
/// last row is a sum.
std::optional<LogColumns> typed_log(const std::filesystem::path& file, const InferredTable& table);
/// Returns the columns of a log without types: times that ascend, by unequal steps, in a table or
/// within the sequences of an id, without other numbers; `with_values`: with others too if dates
/// without separators repeat.
std::optional<LogColumns> untyped_log(const std::filesystem::path& file, const InferredTable& table,
                                      bool with_values);

}  // namespace bochner
