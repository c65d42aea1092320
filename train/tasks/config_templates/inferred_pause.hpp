#pragma once
#include <bochner/autodiff/real.hpp>
#include <bochner/data/formats/csv.hpp>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace bochner {

/// Returns data.pause for rows at these times: the smallest that keeps at least half of all
/// training windows of `lookback` + `horizon` rows, and a window in each split; 1 if gaps do not
/// matter or times do not increase, 0 if the pause exceeds the limit of the key.
std::size_t pause_for(const std::vector<double>& times, std::size_t lookback, std::size_t horizon,
                      const std::vector<double>& splits);

/// Returns whether times increase by different steps; see TimeStep::is_regular().
bool are_irregular(const std::vector<double>& times);

/// Returns the times of the rows of a table, or of its first series if it has id columns; none if
/// they cannot be read, an error that training reports.
std::vector<double> times_of(const std::filesystem::path& file, const std::string& column,
                             const std::vector<std::string>& series,
                             const CsvOptions& options = {});

}  // namespace bochner
