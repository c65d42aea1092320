#pragma once
/// NumPy's .npy, versions 1 to 3, and .npz: a zip archive of several .npy files.

#include <bochner/data/files/gzip.hpp>
#include <bochner/data/formats/array.hpp>
#include <bochner/data/formats/stored_array.hpp>
#include <filesystem>
#include <utility>

namespace bochner {

/// Parses the header from the first bytes of a file, at most `longest_npy_header`, without
/// allocating what it claims. `name` appears in errors. Throws DataError unless it holds numbers of
/// the types of ElementType.
StoredLayout parse_npy_header(ByteSpan front, const std::string& name);
constexpr std::string_view npy_magic = "\x93NUMPY";
constexpr std::size_t longest_npy_header = (1 << 16) + 12;

/// Returns the bytes before the elements, for row-major, little-endian data; a multiple of 64.
std::string npy_header_bytes(const ElementType& type, const std::vector<std::size_t>& shape);

/// Returns the array of a .npy file; the bytes must outlive it. Throws DataError, before
/// allocating, unless they hold exactly the elements of the header.
StoredArray parse_npy(ByteSpan file, const std::string& name);

/// Reads a matrix (rows, columns) of numbers that fit a float. Throws IoError when the file cannot
/// be read, DataError for other contents.
xt::xarray<double> read_npy(const std::filesystem::path& path);

/// Writes elements of `type`, little-endian and row-major. Throws DataError for a number that an
/// integer type cannot hold; float32 is rounded.
void write_npy(const xt::xarray<double>& values, const Sink& sink, const ElementType& type = {});

/// Arrays in the bytes of a .npz file, which must outlive it. Members are stored or deflated; zip64
/// sizes are read. Throws DataError if the directory or a member is inconsistent; a member is
/// decompressed only if its size matches its own header.
class Npz {
 public:
  Npz(ByteSpan file, const std::string& name);

  /// Returns the names of the arrays, without ".npy", in the order of the file.
  const std::vector<std::string>& names() const { return names_; }
  /// Returns an array. Throws DataError if there is none of this name, or its checksum is wrong.
  xt::xarray<double> values(const std::string& array) const;

 private:
  std::string name_;
  std::vector<std::string> names_;
  std::vector<ZipMember> members_;
};

using NamedArrays = std::vector<std::pair<std::string, xt::xarray<double>>>;

struct NpzOptions {
  ElementType type = {};
  bool compressed = false;
};

/// Writes named arrays as a .npz file, always with zip64 sizes. Throws like write_npy.
void write_npz(const NamedArrays& arrays, const Sink& sink, const NpzOptions& options = {});

}  // namespace bochner
