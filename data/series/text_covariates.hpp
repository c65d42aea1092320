#pragma once
/// Text covariates, such as a holiday or a region: each text becomes a column of zeros and ones.

#include <bochner/data/series/series_table.hpp>
#include <map>

namespace bochner {

using TextLevels = std::map<std::string, std::vector<std::string>>;

/// Returns the levels of the known and static columns that were read as texts. Throws DataError if
/// one holds numbers too, or too many texts.
TextLevels text_levels(const NamedArray& table, const SeriesColumns& columns);
/// Returns pairs of column and text as a flat list; merged_levels() reads such a list and appends
/// unknown levels of `seen`.
std::vector<std::string> flattened_levels(const TextLevels& levels);
TextLevels merged_levels(const std::vector<std::string>& known, const TextLevels& seen);
/// Replaces the columns of `levels` by columns of zeros and ones appended to the table; a row
/// without text has none set. Throws DataError for an unknown text, and for texts in a column of
/// numbers.
SeriesColumns with_indicators(NamedArray& table, SeriesColumns columns, const TextLevels& levels);

}  // namespace bochner
