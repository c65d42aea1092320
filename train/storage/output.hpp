#pragma once
/// Files that commands write for their user.

#include <bochner/base/text.hpp>
#include <bochner/data/formats/npz.hpp>

namespace bochner {

/// Throws IoError unless all that was printed has arrived.
void flush_output();

/// Throws IoError, which names the file, where it is a folder itself or where its folder is not
/// there or takes no files.
void require_folder(const std::string& path);

/// Lets `write` fill the file at `path`, or that which a link there leads to, which appears
/// complete or not at all. A pipe or a device is written to as it is; "-" is standard output.
/// Throws IoError.
void write_output(const std::string& path, const std::function<void(const Sink&)>& write);

struct ArrayFormat {
  char delimiter = ',';          ///< csv
  std::string array = "values";  ///< npz: the name of an array whose columns have none
  NpzOptions npz = {};           ///< npy, npz
};
/// For help and errors: which names write_array takes.
constexpr const char* writable_names =
    "the name must end in .csv, .npy or .npz; - is CSV on standard output";
/// In capital letters too.
inline bool ends_in(const std::string& path, std::string_view ending) {
  return lower_case(path).ends_with(ending);
}
/// Whether the name is that of a file which holds numbers only, .npy or .npz.
inline bool is_array_file(const std::string& path) {
  return ends_in(path, ".npy") || ends_in(path, ".npz");
}
/// Writes the array as its name ends, in .npz with an array for each named column. Throws
/// std::invalid_argument for another ending, DataError for texts that are to be .npz or .npy.
void write_array(const std::string& path, const NamedArray& array, const ArrayFormat& format = {});
/// Where the name says that the array becomes text, what its rows hold stands side by side: (n, ..)
/// -> (n, columns).
void make_table_for(const std::string& path, NamedArray& array);

}  // namespace bochner
