#pragma once
/// Output files of commands.

#include <bochner/base/text.hpp>
#include <bochner/data/formats/npy.hpp>

namespace bochner {

/// Flushes standard output. Throws IoError if it could not be written.
void flush_output();

/// Throws IoError if the file is a folder, or its folder is missing or not writable.
void require_folder(const std::string& path);

/// Calls `write` to fill the file at `path`, or the target of a link there; it appears complete or
/// not at all. A pipe or a device is written directly; "-" is standard output. Throws IoError.
void write_output(const std::string& path, const std::function<void(const Sink&)>& write);

struct ArrayFormat {
  char delimiter = ',';          ///< csv
  std::string array = "values";  ///< npz: the name of an array with unnamed columns
  NpzOptions npz = {};           ///< npy, npz
};
/// Names that write_array() accepts, for help and errors.
constexpr const char* writable_names =
    "the name must end in .csv, .npy or .npz; - is CSV on standard output";
/// Whether a path ends so, ignoring case.
inline bool ends_in(const std::string& path, std::string_view ending) {
  return lower_case(path).ends_with(ending);
}
/// Whether the name is that of a numeric array file, .npy or .npz.
inline bool is_array_file(const std::string& path) {
  return ends_in(path, ".npy") || ends_in(path, ".npz");
}
/// Writes the array in the format of its name's ending; .npz has an array per named column. Throws
/// std::invalid_argument for another ending, DataError for texts in .npz or .npy.
void write_array(const std::string& path, const NamedArray& array, const ArrayFormat& format = {});
/// Flattens rows if the file is a text: (n, ..) -> (n, columns).
void make_table_for(const std::string& path, NamedArray& array);

}  // namespace bochner
