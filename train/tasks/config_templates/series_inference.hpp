#pragma once
#include <bochner/data/formats/csv.hpp>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace bochner {

/// Id columns of the series of a table, and the number of series.
struct SeriesLayout {
  std::vector<std::string> columns = {};
  std::size_t count = 1;
  bool own_times = false;  ///< whether series rarely share times
};
/// Returns the layout of series that share their times: the first candidate, or else the first
/// pair, that splits the table into series of several rows with increasing times. Empty if times
/// rarely repeat, or if no candidates do.
SeriesLayout layout_of_series(const std::filesystem::path& file, const std::string& time,
                              const std::vector<std::string>& candidates,
                              const CsvOptions& options = {});

/// Returns the layout of readings that do not share their times, in order of time or series after
/// series: by columns named like a source (sensor, device, ...), or by a candidate within which the
/// `numbers` of an irregular table change less than from row to row. Empty if times are shared, or
/// if no columns qualify.
SeriesLayout layout_of_readings(const std::filesystem::path& file, const std::string& time,
                                const std::vector<std::string>& candidates,
                                const std::vector<std::string>& numbers,
                                const CsvOptions& options = {});

/// Returns whether there are two or more numbers, each larger than the one before.
bool are_increasing(std::span<const double> numbers);

}  // namespace bochner
