#pragma once
/// Directory of a zip archive (PKWARE's APPNOTE 6.3), as far as .npz files need it.

#include <bochner/data/files/gzip.hpp>
#include <string>
#include <vector>

namespace bochner {

/// File in an archive, stored or deflated.
struct ZipMember {
  std::string name;
  bool deflated = false;
  std::uint32_t crc = 0;
  std::uint64_t size = 0;  ///< unpacked
  ByteSpan bytes;          ///< as stored in the archive
};

/// Returns all members in the order of the directory. Throws DataError if an offset or size points
/// outside the file, or members overlap, are encrypted or use another compression. `name` appears
/// in errors.
std::vector<ZipMember> read_zip_directory(ByteSpan file, const std::string& name);

/// Returns the header before the packed bytes of a member.
std::string zip_member_header(const ZipMember& member);
/// Returns the directory at the end; `offsets` are the positions of the member headers.
std::string zip_directory_bytes(const std::vector<ZipMember>& members,
                                const std::vector<std::uint64_t>& offsets, std::uint64_t begin);

}  // namespace bochner
