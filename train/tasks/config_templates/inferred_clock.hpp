#pragma once
#include <bochner/autodiff/real.hpp>
#include <bochner/data/formats/csv.hpp>
#include <filesystem>
#include <optional>
#include <string>

namespace bochner {

/// Returns data.time_format for a column of increasing numbers: a date format if all are dates
/// without separators (20160701, 201607, 2016, 2016070115, ...), "%s" for seconds and "%Q" for
/// milliseconds since 1970, "" for a counter with equal steps. Returns nothing if the numbers do
/// not increase. Throws DataError for finer units, which no format reads.
std::optional<std::string> format_of_clock(const std::filesystem::path& file,
                                           const std::string& column,
                                           const CsvOptions& options = {});

}  // namespace bochner
