#pragma once
/// NumPy's .npz: several arrays in one file, a zip archive of .npy files.

#include <bochner/data/files/zip.hpp>
#include <bochner/data/formats/npy.hpp>
#include <utility>

namespace bochner {

/// Arrays in the bytes of a .npz file, which must outlive it. Members are stored or deflated; zip64
/// sizes are read. Throws DataError if the directory or a member is inconsistent; a member is
/// decompressed only if its size matches its own header.
class Npz {
 public:
  Npz(ByteSpan file, const std::string& name);

  /// Returns the names of the arrays, without ".npy", in the order of the file; other members are
  /// skipped.
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
