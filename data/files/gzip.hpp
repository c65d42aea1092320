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

/// Whether the bytes begin as a gzip file does.
bool is_gzip(ByteSpan bytes);
/// Throws DataError for a file with this front that is to be read as it is.
void refuse_gzip(ByteSpan front, const std::string& name);
/// The contents of a gzip file of one or more members. `name` stands in errors. Throws DataError
/// when it is damaged, cut off or followed by something else, and when the contents would be larger
/// than `limit` bytes, before more memory than that is used.
Bytes gunzip(ByteSpan bytes, const std::string& name, std::uint64_t limit);
/// The first `count` bytes of the contents, or all when there are fewer: enough to read a header.
Bytes gunzip_front(ByteSpan bytes, const std::string& name, std::size_t count);

/// The same of a raw deflate stream (RFC 1951).
Bytes inflate_front(ByteSpan bytes, const std::string& name, std::size_t count);
/// The contents of a raw deflate stream, which must be `size` bytes.
Bytes inflate_exactly(ByteSpan bytes, const std::string& name, std::uint64_t size);
/// A raw deflate stream.
Bytes deflate(ByteSpan bytes);
/// The same inside a zlib stream (RFC 1950), as in a PNG picture.
Bytes zlib_stream(ByteSpan bytes);
/// CRC-32 as gzip and zip use it, going on from that of the bytes before.
std::uint32_t crc32_of(ByteSpan bytes, std::uint32_t before = 0);

}  // namespace bochner
