#pragma once
/// What a table of series looks like, for those who have not said it.

#include <bochner/data/formats/csv.hpp>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace bochner {

/// By which columns the series of a table are told apart, and how many there are.
struct SeriesLayout {
  std::vector<std::string> columns = {};
  std::size_t count = 1;
  bool own_times = false;  ///< which others hardly have
};
/// None where hardly a time stands in several rows: else the first of the candidates, or the first
/// two of them, by which time goes on from row to row in series of several rows; none again where
/// no candidates do.
SeriesLayout layout_of_series(const std::filesystem::path& file, const std::string& time,
                              const std::vector<std::string>& candidates,
                              const CsvOptions& options = {});

/// Of readings that were written into one table as they came, each at a time of its own, or one
/// series behind the other: by columns called like what they are of (sensor, device, ..), or by one
/// by which the `numbers` of an irregular table go on more than from row to row. None where times
/// are in common, or nothing tells.
SeriesLayout layout_of_readings(const std::filesystem::path& file, const std::string& time,
                                const std::vector<std::string>& candidates,
                                const std::vector<std::string>& numbers,
                                const CsvOptions& options = {});

/// Whether each is larger than the one before it, of two or more.
bool go_on(std::span<const double> numbers);

}  // namespace bochner
