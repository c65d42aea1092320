#pragma once
/// Series whose times are a column of numbers.

#include <bochner/train/tasks/config_templates/series_inference.hpp>
#include <bochner/train/tasks/config_templates/table_inference.hpp>

namespace bochner {

/// Returns the names of columns.
std::vector<std::string> names_of(const InferredTable& table,
                                  const std::vector<std::size_t>& columns);
/// Returns the layout if it leaves other columns to forecast, else an empty one.
SeriesLayout with_targets(const SeriesLayout& layout, const InferredTable& table);

/// Returns the table with a clock of increasing numbers as its times, or as row numbers if they are
/// a counter.
std::optional<InferredTable> with_clock(const std::filesystem::path& file,
                                        const InferredTable& table);

/// A table whose times are numbers, and its series.
struct ClockedSeries {
  InferredTable table;
  SeriesLayout layout;
};

/// Returns the table with the column of numbers as its times that increases within each of several
/// series.
std::optional<ClockedSeries> series_with_clock(const std::filesystem::path& file,
                                               const InferredTable& table);

}  // namespace bochner
