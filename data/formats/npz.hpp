#pragma once
/// Several arrays in one file: NumPy's .npz, a zip archive of .npy files.

#include <bochner/data/files/zip.hpp>
#include <bochner/data/formats/npy.hpp>
#include <utility>

namespace bochner {

/// The arrays in the bytes of a .npz file, which must outlive it. Members are stored or deflated;
/// sizes of zip64 are understood. Throws DataError where the directory or a member is not what it
/// claims to be; a member is unpacked only when its size is the one that its own header demands.
class Npz {
 public:
  Npz(ByteSpan file, const std::string& name);

  /// Of the arrays, without ".npy", in the order of the file; other members are passed over.
  const std::vector<std::string>& names() const { return names_; }
  /// Throws DataError when there is no array of this name, or its bytes fail the checksum.
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

/// Arrays with their names as a .npz file, always with the sizes of zip64. Throws as write_npy.
void write_npz(const NamedArrays& arrays, const Sink& sink, const NpzOptions& options = {});

}  // namespace bochner
