#pragma once
/// What numbers that are called a time say of when rows are.

#include <bochner/autodiff/real.hpp>
#include <bochner/data/formats/csv.hpp>
#include <filesystem>
#include <optional>
#include <string>

namespace bochner {

/// The data.time_format of numbers that go on from row to row: that of dates where all of them are
/// such, written without marks (20160701, 201607, 2016, 2016070115, ..); "%s" of seconds, "%Q" of
/// milliseconds since 1970; "" of a counter by equal steps, which says no more than the number of a
/// row. Nothing where they do not go on. Throws DataError for finer units, which no format has.
std::optional<std::string> format_of_clock(const std::filesystem::path& file,
                                           const std::string& column,
                                           const CsvOptions& options = {});

}  // namespace bochner
