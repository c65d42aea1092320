#pragma once
/// Roles of the columns of numbers of a table: forecast, covariate, or neither.

#include <bochner/train/tasks/config_templates/series_inference.hpp>
#include <bochner/train/tasks/config_templates/table_inference.hpp>

namespace bochner {

/// Columns of a series by role, by index.
struct ColumnRoles {
  std::vector<std::size_t> targets;
  std::vector<std::size_t> known;    ///< have values in rows at the end that targets lack
  std::vector<std::size_t> maybe;    ///< few values: known, if future rows have them
  std::vector<std::size_t> fixed;    ///< constant within each of several series
  std::size_t rows_to_forecast = 0;  ///< at the end of each series, if some columns are known
};
/// Returns the roles of the columns of numbers that are not id columns, and adds to the table why
/// others have none: constants, row numbers, and parts of the calendar. At least one is a target.
ColumnRoles column_roles(const std::filesystem::path& file, InferredTable& table,
                         const SeriesLayout& layout);

/// Removes constants and row numbers from the columns of numbers, unless none would remain.
void leave_out_useless(const std::filesystem::path& file, InferredTable& table);

}  // namespace bochner
