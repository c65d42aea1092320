#include <zlib.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/files/gzip.hpp>
#include <initializer_list>
#include <memory>
#include <new>
#include <utility>

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

constexpr std::uint32_t local_signature = 0x04034b50, central_signature = 0x02014b50,
                        end_signature = 0x06054b50, end64_signature = 0x06064b50,
                        locator_signature = 0x07064b50;
constexpr std::size_t local_size = 30, central_size = 46, end_size = 22, end64_size = 56,
                      locator_size = 20;
constexpr std::size_t longest_comment = 0xffff;
constexpr std::uint64_t in_zip64 = 0xffffffff;  // the true size is in an extra field
constexpr std::uint16_t zip64_field = 1, zip64_version = 45;
constexpr std::uint16_t encrypted_flag = 1, stored_method = 0, deflated_method = 8;
constexpr std::uint16_t first_of_1980 = 0x21;  // the earliest date of zip

std::uint64_t number_at(ByteSpan bytes, std::size_t at, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t i = size; i-- > 0;) number = number << 8 | bytes[at + i];
  return number;
}

/// Position that the directory claims for a member.
struct Claim {
  ZipMember member;
  std::uint64_t offset = 0, packed = 0;
};

class ZipReader {
 public:
  ZipReader(ByteSpan file, const std::string& name) : file_(file), name_(name) {}

  std::vector<ZipMember> members() {
    const auto [count, directory] = find_directory();
    ByteSpan rest = directory;
    std::vector<Claim> claims;
    for (std::uint64_t i = 0; i < count; ++i) claims.push_back(read_entry(rest));
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
    std::vector<ZipMember> members;
    for (Claim& claim : claims) {
      const std::uint64_t end = locate(claim);
      ranges.emplace_back(claim.offset, end);
      members.push_back(std::move(claim.member));
    }
    std::ranges::sort(ranges);
    for (std::size_t i = 1; i < ranges.size(); ++i)
      if (ranges[i].first < ranges[i - 1].second) fail("has members that overlap");
    return members;
  }

 private:
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... what) const {
    throw DataError(name_, ": ", what..., "; save it with numpy.savez(FILE, name=array)");
  }

  ByteSpan part(std::uint64_t offset, std::uint64_t size, const char* what) const {
    if (offset > file_.size() || size > file_.size() - offset)
      fail("is cut off or damaged: ", what, " of ", size, " bytes at byte ", offset,
           " lies outside the file of ", file_.size());
    return file_.subspan(offset, size);
  }

  std::size_t find_end() const {
    const std::size_t reach = std::min(file_.size(), end_size + longest_comment);
    for (std::size_t back = end_size; back <= reach; ++back) {
      const std::size_t at = file_.size() - back;
      if (number_at(file_, at, 4) == end_signature &&
          number_at(file_, at + 20, 2) == back - end_size)
        return at;
    }
    fail("is not a .npz file, or cut off: no zip directory at its end");
  }

  std::pair<std::uint64_t, ByteSpan> find_directory() const {
    const std::size_t end = find_end();
    std::uint64_t count = number_at(file_, end + 10, 2), size = number_at(file_, end + 12, 4),
                  offset = number_at(file_, end + 16, 4);
    if (end >= locator_size && number_at(file_, end - locator_size, 4) == locator_signature) {
      const ByteSpan end64 = part(number_at(file_, end - locator_size + 8, 8), end64_size,
                                  "the zip64 end of the directory");
      if (number_at(end64, 0, 4) != end64_signature) fail("has a damaged zip64 directory");
      count = number_at(end64, 32, 8);
      size = number_at(end64, 40, 8);
      offset = number_at(end64, 48, 8);
    }
    const ByteSpan directory = part(offset, size, "the directory");
    if (count > size / central_size)
      fail("claims ", count, " members in a directory of ", size, " bytes");
    return {count, directory};
  }

  ByteSpan take(ByteSpan& rest, std::size_t size) const {
    if (size > rest.size()) fail("has a directory that is cut off");
    const ByteSpan taken = rest.first(size);
    rest = rest.subspan(size);
    return taken;
  }

  Claim read_entry(ByteSpan& rest) const {
    const ByteSpan entry = take(rest, central_size);
    if (number_at(entry, 0, 4) != central_signature) fail("has a damaged directory");
    const ByteSpan text = take(rest, number_at(entry, 28, 2));
    const ByteSpan extra = take(rest, number_at(entry, 30, 2));
    take(rest, number_at(entry, 32, 2));
    Claim claim;
    claim.member.name.assign(text.begin(), text.end());
    const std::uint64_t method = number_at(entry, 10, 2);
    if ((number_at(entry, 8, 2) & encrypted_flag) != 0)
      fail("member ", excerpt(claim.member.name), " is encrypted");
    if (method != stored_method && method != deflated_method)
      fail("member ", excerpt(claim.member.name), " is packed by method ", method,
           "; must be stored or deflated");
    claim.member.deflated = method == deflated_method;
    claim.member.crc = std::uint32_t(number_at(entry, 16, 4));
    claim.packed = number_at(entry, 20, 4);
    claim.member.size = number_at(entry, 24, 4);
    claim.offset = number_at(entry, 42, 4);
    read_zip64(extra, claim);
    return claim;
  }

  /// Reads the zip64 field, which holds the numbers that did not fit into 32 bits, in this order.
  void read_zip64(ByteSpan extra, Claim& claim) const {
    while (extra.size() >= 4) {
      const std::uint64_t kind = number_at(extra, 0, 2), size = number_at(extra, 2, 2);
      take(extra, 4);
      ByteSpan field = take(extra, size);
      if (kind != zip64_field) continue;
      for (std::uint64_t* number : {&claim.member.size, &claim.packed, &claim.offset})
        if (*number == in_zip64) *number = number_at(take(field, 8), 0, 8);
      return;
    }
  }

  /// Finds the packed bytes after the local header. Returns where they end.
  std::uint64_t locate(Claim& claim) const {
    const ByteSpan local = part(claim.offset, local_size, "a member header");
    if (number_at(local, 0, 4) != local_signature)
      fail("member ", excerpt(claim.member.name), " is not where the directory says");
    const std::uint64_t text_size = number_at(local, 26, 2);
    const ByteSpan text = part(claim.offset + local_size, text_size, "a member name");
    if (!std::ranges::equal(text, bytes_of(claim.member.name)))
      fail("member ", excerpt(claim.member.name), " has another name in its own header");
    const std::uint64_t begin = claim.offset + local_size + text_size + number_at(local, 28, 2);
    claim.member.bytes = part(begin, claim.packed, "a member");
    if (!claim.member.deflated && claim.packed != claim.member.size)
      fail("member ", excerpt(claim.member.name), " claims ", claim.member.size,
           " bytes and stores ", claim.packed);
    return begin + claim.packed;
  }

  ByteSpan file_;
  const std::string& name_;
};

/// Little-endian number and its size in bytes.
struct Field {
  std::uint64_t number;
  std::size_t size;
};

void append(std::string& bytes, std::initializer_list<Field> fields) {
  for (const auto& [number, size] : fields)
    for (std::size_t i = 0; i < size; ++i) bytes += char(number >> (8 * i) & 0xff);
}

/// Appends what both headers share, from the version on. Sizes are in the extra field only.
void append_common(std::string& bytes, const ZipMember& member, std::size_t extra) {
  const auto method = member.deflated ? deflated_method : stored_method;
  append(bytes, {{zip64_version, 2}, {0, 2}, {method, 2}, {0, 2}, {first_of_1980, 2}});
  append(bytes, {{member.crc, 4}, {in_zip64, 4}, {in_zip64, 4}});
  append(bytes, {{member.name.size(), 2}, {4 + extra, 2}});
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

std::vector<ZipMember> read_zip_directory(ByteSpan file, const std::string& name) {
  return ZipReader(file, name).members();
}

std::string zip_member_header(const ZipMember& member) {
  std::string bytes;
  append(bytes, {{local_signature, 4}});
  append_common(bytes, member, 16);
  bytes += member.name;
  append(bytes, {{zip64_field, 2}, {16, 2}, {member.size, 8}, {member.bytes.size(), 8}});
  return bytes;
}

std::string zip_directory_bytes(const std::vector<ZipMember>& members,
                                const std::vector<std::uint64_t>& offsets, std::uint64_t begin) {
  std::string bytes;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const ZipMember& member = members[i];
    append(bytes, {{central_signature, 4}, {zip64_version, 2}});
    append_common(bytes, member, 24);
    bytes.append(10, '\0');  // no comment, first disk, no attributes
    append(bytes, {{in_zip64, 4}});
    bytes += member.name;
    append(bytes, {{zip64_field, 2}, {24, 2}});
    append(bytes, {{member.size, 8}, {member.bytes.size(), 8}, {offsets[i], 8}});
  }
  const std::uint64_t size = bytes.size(), count = members.size();
  const std::uint64_t short_count = std::min<std::uint64_t>(count, 0xffff);
  append(bytes, {{end64_signature, 4}, {end64_size - 12, 8}, {zip64_version, 2}});
  append(bytes, {{zip64_version, 2}, {0, 8}, {count, 8}, {count, 8}, {size, 8}, {begin, 8}});
  append(bytes, {{locator_signature, 4}, {0, 4}, {begin + size, 8}, {1, 4}});
  append(bytes, {{end_signature, 4}, {0, 4}, {short_count, 2}, {short_count, 2}});
  append(bytes, {{std::min(size, in_zip64), 4}, {std::min(begin, in_zip64), 4}, {0, 2}});
  return bytes;
}

}  // namespace bochner
