#pragma once
/// Reader of one array from a file of any format.

#include <bochner/data/files/regular_file.hpp>
#include <bochner/data/formats/csv.hpp>
#include <bochner/data/formats/series_tables.hpp>

namespace bochner {

/// Opens a file, plain or gzip, or standard input ("-"). It may decompress to the size that its
/// header demands, `input_limit` without one.
Input open_input(const std::filesystem::path& path);

/// Returns "npy", "npz", "idx", "cifar", "sound" or "series" (.ts, .arff) by the first bytes and
/// the size, else "csv".
std::string file_kind(ByteSpan file);

/// Formats that these functions read, for help texts.
constexpr const char* readable_formats =
    "CSV, NPY, NPZ, IDX, CIFAR, .ts, .arff, or sound (WAV, FLAC, Ogg, AIFF), plain or gzip; - for "
    "standard input";

struct ReadOptions {
  CsvOptions csv = {};
  std::string array = "";  ///< array of an npz file
  /// Set for labelled series, which all formats, and folders, are read as.
  std::optional<SeriesOptions> series = {};
};
/// Parses an array: NPY and IDX as they are; CIFAR as (n, record); CSV as read_csv; of NPZ the
/// array of that name, or the only one, or vectors of equal length as the columns of a table; .ts,
/// .arff, sound, and all files if `series` is set, as table_of_series().
/// Tables of the other formats take time and missing values from `csv`. Throws DataError.
NamedArray parse_array(ByteSpan file, const std::string& name, const ReadOptions& options = {});
NamedArray read_array(const std::filesystem::path& path, const ReadOptions& options = {});
/// Applies the options for CSV tables to another table: the time column and the treatment of
/// missing values. The caller chooses the columns. Throws DataError with the name.
NamedArray with_table_options(NamedArray table, const std::string& name, const CsvOptions& options);

}  // namespace bochner
