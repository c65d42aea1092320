#pragma once
/// Reader of labelled series from files of any format, and folders.

#include <bochner/data/formats/read_array.hpp>

namespace bochner {

/// Parses labelled series as options.series says, which must be set: .ts, .arff and recordings as
/// they are; x and y of NPZ, x of NPY; tables in either layout, or as one series if labels are not
/// in them. Throws DataError that names the file.
RealSeriesSet parse_labelled_series(ByteSpan file, const std::string& name,
                                    const ReadOptions& options);
/// Reads a file, or all files below a folder, with parse_labelled_series(). Series without a name
/// in a file of their own have that of the file.
RealSeriesSet read_labelled_series(const std::filesystem::path& path, const ReadOptions& options);

/// Returns the labelled series of a table, in either layout.
RealSeriesSet labelled_series_of(const NamedArray& table, const SeriesOptions& options);

/// Returns whether an NPZ file holds labelled series: an array x of two or three axes, and y.
bool holds_labelled_series(ByteSpan npz, const std::string& name);

/// Returns the label that the path of a file holds: its folder, or its name up to the first "_", ""
/// without one.
std::string label_of_path(const std::filesystem::path& file, const std::string& label_from);

}  // namespace bochner
