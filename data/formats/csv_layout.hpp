#pragma once
#include <bochner/data/formats/csv.hpp>
#include <string>

namespace bochner {

/// Returns whether each row of a table is a series: a text that no other row has, then at least
/// eight numbers; columns of numbers are named by ascending dates, or some rows end with empty
/// cells.
bool is_wide_csv(std::string_view text, const std::string& name, const CsvOptions& options);

/// Returns a table with a series in each row as one with a value in each: the id, the time if dates
/// name the columns, and the "value"; without the empty cells at both ends of a row. Delimited by
/// ";". Throws DataError for a table without values, and as CsvRecords does.
std::string long_csv(std::string_view text, const std::string& name, const CsvOptions& options);

/// Returns how to read long_csv().
CsvOptions long_csv_options(std::string_view text, const std::string& name, CsvOptions options);

}  // namespace bochner
