#pragma once
/// The directory of a zip archive (PKWARE's APPNOTE 6.3), as far as .npz files go.

#include <bochner/data/files/gzip.hpp>
#include <string>
#include <vector>

namespace bochner {

/// A file of an archive; stored or deflated.
struct ZipMember {
  std::string name;
  bool deflated = false;
  std::uint32_t crc = 0;
  std::uint64_t size = 0;  ///< unpacked
  ByteSpan bytes;          ///< as they lie in the archive
};

/// All members, in the order of the directory. Throws DataError where an offset or a size leads out
/// of the file, members overlap, are encrypted or packed in another way. `name` stands in errors.
std::vector<ZipMember> read_zip_directory(ByteSpan file, const std::string& name);

/// The header in front of the packed bytes of a member.
std::string zip_member_header(const ZipMember& member);
/// What stands at the end; `offsets` tell where the header of each member begins.
std::string zip_directory_bytes(const std::vector<ZipMember>& members,
                                const std::vector<std::uint64_t>& offsets, std::uint64_t begin);

}  // namespace bochner
