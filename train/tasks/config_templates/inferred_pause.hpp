#pragma once
#include <bochner/autodiff/real.hpp>
#include <bochner/data/formats/csv.hpp>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace bochner {

/// A data.pause for rows at these times: the shortest with which at least half of all windows of
/// `lookback` rows to see and `horizon` to forecast are left to train on, and one in each split; 1
/// where no gap is in their way, 0 where one is too long to be said. Times that do not go on have
/// none.
std::size_t pause_for(const std::vector<double>& times, std::size_t lookback, std::size_t horizon,
                      const std::vector<double>& splits);

/// Whether they go on from row to row, by steps that differ: TimeStep::is_regular().
bool are_irregular(const std::vector<double>& times);

/// The times of the rows of a table, or of its first series where columns tell several apart; none
/// where they cannot be read, of which training says more.
std::vector<double> times_of(const std::filesystem::path& file, const std::string& column,
                             const std::vector<std::string>& series,
                             const CsvOptions& options = {});

}  // namespace bochner
