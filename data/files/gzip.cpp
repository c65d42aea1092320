#include <zlib.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/data/files/gzip.hpp>
#include <memory>
#include <new>

namespace bochner {
namespace {

constexpr int zlib_window = 15, gzip_window = 15 + 16, raw_window = -15;
constexpr std::size_t first_piece = 1 << 16;
constexpr std::size_t largest_piece = 1 << 30;  // zlib counts in 32 bits

/// Calls ::inflate or ::deflate once and removes what it read and wrote from `in` and `out`; `last`
/// is the flush mode for the end of `in`.
int advance(z_stream& stream, int (*call)(z_stream*, int), int last, ByteSpan& in,
            std::span<std::uint8_t>& out) {
  const std::size_t given = std::min(in.size(), largest_piece);
  const std::size_t room = std::min(out.size(), largest_piece);
  stream.next_in = const_cast<Bytef*>(in.data());
  stream.avail_in = uInt(given);
  stream.next_out = out.data();
  stream.avail_out = uInt(room);
  const int code = call(&stream, given == in.size() ? last : Z_NO_FLUSH);
  in = in.subspan(given - stream.avail_in);
  out = out.subspan(room - stream.avail_out);
  return code;
}

/// zlib stream over bytes in memory.
class Inflater {
 public:
  Inflater(ByteSpan bytes, const std::string& name, int window) : rest_(bytes), name_(name) {
    if (::inflateInit2(&stream_, window) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { ::inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;

  /// Fills `out` as far as the stream goes. Returns the number of bytes.
  std::size_t fill(std::span<std::uint8_t> out) {
    const std::size_t size = out.size();
    while (!out.empty() && !at_end_) step(out);
    return size - out.size();
  }
  /// Returns whether the stream ends here, with no byte left in it or after it.
  bool ends() {
    std::uint8_t more;
    return (at_end_ || fill({&more, 1}) == 0) && rest_.empty();
  }
  /// Fills `out` across the members of a gzip file.
  std::size_t fill_from_members(std::span<std::uint8_t> out) {
    std::size_t filled = fill(out);
    while (filled < out.size() && begin_member()) filled += fill(out.subspan(filled));
    return filled;
  }

 private:
  bool begin_member() {
    if (rest_.empty()) return false;
    if (!is_gzip(rest_))
      throw DataError(name_, ": ", rest_.size(), " bytes follow its compressed data");
    ::inflateReset(&stream_);
    at_end_ = false;
    return true;
  }

  void step(std::span<std::uint8_t>& out) {
    const int code = advance(stream_, ::inflate, Z_NO_FLUSH, rest_, out);
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    if (code == Z_BUF_ERROR || (code == Z_OK && rest_.empty() && stream_.avail_out > 0))
      throw DataError(name_, ": its compressed data are cut off; fetch or write the file again");
    if (code != Z_OK && code != Z_STREAM_END)
      throw DataError(name_, ": its compressed data are damaged (",
                      stream_.msg ? stream_.msg : "dictionary needed",
                      "); fetch or write the file again");
    at_end_ = code == Z_STREAM_END;
  }

  z_stream stream_ = {};
  ByteSpan rest_;
  const std::string& name_;
  bool at_end_ = false;
};

Bytes packed(ByteSpan bytes, int window) {
  z_stream stream = {};
  if (::deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> ends(&stream, ::deflateEnd);
  Bytes out;
  int code = Z_OK;
  std::size_t filled = 0;
  while (code != Z_STREAM_END) {
    if (filled == out.size()) out.resize(std::max(first_piece, 2 * out.size()));
    auto rest = std::span(out).subspan(filled);
    code = advance(stream, ::deflate, Z_FINISH, bytes, rest);
    filled = out.size() - rest.size();
  }
  out.resize(filled);
  return out;
}

}  // namespace

bool is_gzip(ByteSpan bytes) { return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b; }

void refuse_gzip(ByteSpan front, const std::string& name) {
  if (is_gzip(front)) throw DataError(name, ": is a gzip file; unpack it");
}

Bytes gunzip(ByteSpan bytes, const std::string& name, std::uint64_t limit) {
  Inflater inflater(bytes, name, gzip_window);
  Bytes contents;
  std::size_t filled = 0;
  while (filled == contents.size() && filled < limit) {
    contents.resize(
        std::size_t(std::min<std::uint64_t>(limit, std::max(first_piece, 2 * contents.size()))));
    filled += inflater.fill_from_members(std::span(contents).subspan(filled));
  }
  std::uint8_t more;
  if (filled == limit && inflater.fill_from_members({&more, 1}) > 0)
    throw DataError(name, ": decompresses to more than the limit of ", limit, " bytes");
  contents.resize(filled);
  return contents;
}

Bytes gunzip_front(ByteSpan bytes, const std::string& name, std::size_t count) {
  Inflater inflater(bytes, name, gzip_window);
  Bytes front(count);
  front.resize(inflater.fill_from_members(front));
  return front;
}

Bytes inflate_front(ByteSpan bytes, const std::string& name, std::size_t count) {
  Inflater inflater(bytes, name, raw_window);
  Bytes front(count);
  front.resize(inflater.fill(front));
  return front;
}

Bytes inflate_exactly(ByteSpan bytes, const std::string& name, std::uint64_t size) {
  // Deflate compresses at most 1032:1. A larger claim is not worth the memory.
  if (size / 1032 > bytes.size())
    throw DataError(name, ": claims to inflate to ", size, " bytes, which its ", bytes.size(),
                    " compressed bytes cannot hold");
  Inflater inflater(bytes, name, raw_window);
  Bytes contents(size);
  if (inflater.fill(contents) != size || !inflater.ends())
    throw DataError(name, ": does not decompress to the ", size, " bytes that its header states");
  return contents;
}

Bytes deflate(ByteSpan bytes) { return packed(bytes, raw_window); }

Bytes zlib_stream(ByteSpan bytes) { return packed(bytes, zlib_window); }

std::uint32_t crc32_of(ByteSpan bytes, std::uint32_t before) {
  return std::uint32_t(::crc32_z(before, bytes.data(), bytes.size()));
}

}  // namespace bochner
