#pragma once
/// What a table of series looks like, for those who have not said it.

#include <bochner/data/formats/csv.hpp>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bochner {

/// By which columns the series of a table are told apart, and how many there are.
struct SeriesLayout {
  std::vector<std::string> columns = {};
  std::size_t count = 1;
};
/// None where hardly a time stands in several rows: else the first of the candidates, or the first
/// two of them, by which time goes on from row to row in series of several rows; none again where
/// no candidates do.
SeriesLayout layout_of_series(const std::filesystem::path& file, const std::string& time,
                              const std::vector<std::string>& candidates,
                              const CsvOptions& options = {});

/// Whether each is larger than the one before it, of two or more.
bool go_on(std::span<const double> numbers);

/// The data.time_format of numbers that go on from row to row: "%Y%m%d" where all of them are dates
/// written so, "%s" of other whole numbers, "%Q" where they are milliseconds; nothing where they do
/// not go on, or are no such.
std::optional<std::string> format_of_clock(const std::filesystem::path& file,
                                           const std::string& column,
                                           const CsvOptions& options = {});

}  // namespace bochner
