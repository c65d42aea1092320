#pragma once
/// What a table of series looks like, for those who have not said it.

#include <bochner/data/formats/csv.hpp>
#include <filesystem>
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

}  // namespace bochner
