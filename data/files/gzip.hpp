#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bochner {

using Bytes = std::vector<std::uint8_t>;
using ByteSpan = std::span<const std::uint8_t>;

inline ByteSpan bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

bool is_gzip(ByteSpan bytes);
/// Throws DataError if a file that must not be compressed begins like gzip.
void refuse_gzip(ByteSpan front, const std::string& name);
/// Returns the contents of a gzip file of one or more members. `name` appears in errors. Throws
/// DataError when it is damaged, cut off or has trailing data, and when the contents exceed `limit`
/// bytes, before more memory than that is used.
Bytes gunzip(ByteSpan bytes, const std::string& name, std::uint64_t limit);
/// Returns the first `count` bytes of the contents, or all of fewer: enough to read a header.
Bytes gunzip_front(ByteSpan bytes, const std::string& name, std::size_t count);

/// Returns the first `count` bytes of a raw deflate stream (RFC 1951).
Bytes inflate_front(ByteSpan bytes, const std::string& name, std::size_t count);
/// Returns the contents of a raw deflate stream, which must be `size` bytes.
Bytes inflate_exactly(ByteSpan bytes, const std::string& name, std::uint64_t size);
Bytes deflate(ByteSpan bytes);
/// Compresses into a zlib stream (RFC 1950), as in a PNG image.
Bytes zlib_stream(ByteSpan bytes);
/// Returns the CRC-32 of gzip and zip, continued from that of the preceding bytes.
std::uint32_t crc32_of(ByteSpan bytes, std::uint32_t before = 0);

/// File in a zip archive (PKWARE's APPNOTE 6.3), stored or deflated.
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
