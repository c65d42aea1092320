#pragma once
/// Headers of tables.

#include <bochner/data/formats/csv_dialect.hpp>

namespace bochner {

/// Returns whether the first record of a sample names the columns: as the options say or, if
/// "auto", if one of its fields is neither a number, a time nor missing, unless others are numbers
/// and its texts occur again below, like classes. Numbers are names too if
/// they are those of pandas (an empty name first, or 0, 1, 2, ..) and the records below hold other
/// kinds of values. Throws DataError with a remedy if that is not certain.
bool has_csv_header(const CsvSample& sample, const std::string& name, const CsvDialect& dialect,
                    const CsvOptions& options);

}  // namespace bochner
