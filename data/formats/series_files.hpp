#pragma once
/// Files of series of real values, each with a class or a number to predict: .ts of the UEA archive
/// (sktime, aeon) and .arff of Weka.

#include <bochner/data/formats/array.hpp>

namespace bochner {

/// One series; missing values are NaN.
struct RealSeries {
  std::vector<float> values;  ///< (channels, rows)
  std::string label;          ///< text of its class or number; "" if there is none
};

struct RealSeriesSet {
  std::size_t channels = 0;
  std::vector<RealSeries> series = {};
  bool numbers = false;  ///< labels are numbers to predict, by the header

  std::size_t rows(std::size_t number) const { return series[number].values.size() / channels; }
};

/// Returns the format of a text by its header: "ts", "arff" where attributes are relations or
/// numbered, or "".
std::string series_format(std::string_view text);
/// Reads series of equal or different lengths. A missing value is "?" or NaN. Throws DataError with
/// the line for other numbers of channels than in the lines above, channels of different lengths,
/// time stamps, and texts that are not numbers.
RealSeriesSet parse_series(std::string_view text, const std::string& name);

/// Returns a table with a row for each row of the series: number of the series from 1, label, then
/// the channels "x", or "x1", "x2", ...
NamedArray table_of_series(const RealSeriesSet& set);
/// Columns of such a table, by name or number; without channels, all columns of numbers left.
struct RealSeriesColumns {
  std::string series = "series", label = "label";
  std::vector<std::string> channels = {};
};
/// Returns the series of a table in the order of their first rows; `labelled`: labels are needed.
/// Throws DataError for columns that do not exist, and labels that differ within a series.
RealSeriesSet series_of_table(const NamedArray& table, const RealSeriesColumns& columns,
                              bool labelled);

}  // namespace bochner
