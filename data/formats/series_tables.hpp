#pragma once
/// Labelled series of tables and arrays: long tables, tables with a series in each row, and arrays
/// of equally long series.

#include <bochner/base/keys.hpp>
#include <bochner/data/formats/array.hpp>
#include <bochner/data/formats/series_files.hpp>

namespace bochner {

/// Columns of a table of series, by name or number; without channels, all columns of numbers left.
struct RealSeriesColumns {
  std::string series = "series", label = "label";
  std::vector<std::string> channels = {};
  std::string time = "";  ///< "": the first column of dates
};

/// Where labels are.
struct SeriesLabels {
  std::string label_from = "file";
};
inline void describe(Keys& keys, SeriesLabels& spec) {
  keys("label_from", spec.label_from, one_of({"file", "folder", "name"}),
       "where the labels of series are: in the file; or a file is one series, whose label is its "
       "folder, or its name up to the first \"_\"");
}

/// How files of labelled series are read.
struct SeriesOptions {
  RealSeriesColumns columns = {};
  std::string layout = "long";  ///< a row is a time (long) or a series (wide)
  std::string label_from = "file";
  bool labelled = false;  ///< a column of labels is needed
};

/// Returns a long table with a row for each row of the series: name of the series or its number
/// from 1, label, then the channels, which are "x", or "x1", "x2", ... if they have no names.
NamedArray table_of_series(const RealSeriesSet& set, const RealSeriesColumns& columns = {});
/// Returns the series of a long table in the order of their first rows; `labelled`: labels are
/// needed. Throws DataError for columns that do not exist, labels that differ within a series, and
/// times that do not ascend.
RealSeriesSet series_of_table(const NamedArray& table, const RealSeriesColumns& columns,
                              bool labelled);
/// Returns all rows of a table as one series without a label.
RealSeriesSet series_of_all_rows(const NamedArray& table, const RealSeriesColumns& columns);
/// Returns each row of a table as a series of one channel: the channels of `columns` are its values
/// in order. Missing values at the end of a row are cut off. Throws DataError for rows without
/// values, columns of times, and labels that are needed and are not there.
RealSeriesSet series_of_rows(const NamedArray& table, const RealSeriesColumns& columns,
                             bool labelled);
/// Returns the series of an array (series, rows), or (series, rows, channels), without the missing
/// rows at their ends. `labels`: (series), or none. Throws DataError for other shapes.
RealSeriesSet series_of_arrays(const xt::xarray<double>& values, const xt::xarray<double>* labels);

/// Writes the names of the series, or their numbers from 1, into column 0 of an answer with a row
/// for each.
void name_series(NamedArray& answer, const RealSeriesSet& set);

}  // namespace bochner
