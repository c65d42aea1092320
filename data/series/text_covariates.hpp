#pragma once
/// Covariates that are texts: a holiday, a region. Each text becomes a column of zeros and ones.

#include <bochner/data/series/series_table.hpp>
#include <map>

namespace bochner {

/// The texts of columns, in the order of their first rows.
using TextLevels = std::map<std::string, std::vector<std::string>>;

/// Of the known and static columns that were read as texts. Throws DataError for one that holds
/// numbers too, or too many texts.
TextLevels text_levels(const NamedArray& table, const SeriesColumns& columns);
/// A column and one of its texts, by turns; and the texts of such a list, with those of `seen` that
/// it has not behind them.
std::vector<std::string> by_turns(const TextLevels& levels);
TextLevels with_levels(const std::vector<std::string>& known, const TextLevels& seen);
/// The same columns with those of `levels` replaced by columns of zeros and ones that are added to
/// the table. No text is none of them. Throws DataError for another text, and for texts in a column
/// of numbers.
SeriesColumns with_indicators(NamedArray& table, SeriesColumns columns, const TextLevels& levels);

}  // namespace bochner
