#pragma once
/// One array of a file, whatever its format.

#include <bochner/data/files/input.hpp>
#include <bochner/data/formats/csv.hpp>

namespace bochner {

/// A file, plain or gzip, or standard input ("-"). What its header demands is the limit of what it
/// may inflate to: `input_limit` where it has none.
Input open_input(const std::filesystem::path& path);

/// "npy", "npz", "idx" or "cifar" by the first bytes and the size; "csv" for all others.
std::string file_kind(ByteSpan file);

/// For help texts: what these functions read.
constexpr const char* readable_formats =
    "CSV, NPY, NPZ, IDX or CIFAR, plain or gzip; - for standard input";

struct ReadOptions {
  CsvOptions csv = {};
  std::string array = "";  ///< npz: which one
};
/// NPY and IDX as they are; CIFAR as (n, record); CSV as read_csv; of NPZ the array of that name,
/// or the only one, or vectors of equal length as the columns of a table; of tables in either the
/// time and what becomes of missing values are as `csv` says. Throws DataError.
NamedArray parse_array(ByteSpan file, const std::string& name, const ReadOptions& options = {});
NamedArray read_array(const std::filesystem::path& path, const ReadOptions& options = {});

}  // namespace bochner
