#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/npz.hpp>

namespace bochner {
namespace {

constexpr std::string_view suffix = ".npy";

Bytes unpacked(const ZipMember& member, const std::string& name) {
  const Bytes front = inflate_front(member.bytes, name, longest_npy_header);
  const StoredLayout header = parse_npy_header(front, name);
  if (header.file_size() != member.size)
    throw DataError(name, ": claims ", shape_text(header.shape), " of ", to_string(header.type),
                    " in ", member.size, " bytes");
  return inflate_exactly(member.bytes, name, member.size);
}

}  // namespace

Npz::Npz(ByteSpan file, const std::string& name) : name_(name) {
  for (ZipMember& member : read_zip_directory(file, name)) {
    if (!member.name.ends_with(suffix)) continue;
    names_.push_back(member.name.substr(0, member.name.size() - suffix.size()));
    members_.push_back(std::move(member));
  }
}

xt::xarray<double> Npz::values(const std::string& array) const {
  const auto found = std::ranges::find(names_, array);
  if (found == names_.end())
    throw DataError(name_, ": no array ", excerpt(array),
                    "; there are: ", names_.empty() ? "none" : joined(names_, ", ", excerpt));
  const ZipMember& member = members_[std::size_t(found - names_.begin())];
  const std::string name = name_ + ": array " + excerpt(array);
  const Bytes held = member.deflated ? unpacked(member, name) : Bytes();
  const ByteSpan bytes = member.deflated ? ByteSpan(held) : member.bytes;
  if (crc32_of(bytes) != member.crc)
    throw DataError(name, ": its checksum is wrong; fetch or write the file again");
  return parse_npy(bytes, name).values();
}

void write_npz(const NamedArrays& arrays, const Sink& sink, const NpzOptions& options) {
  std::vector<ZipMember> members;
  std::vector<std::uint64_t> offsets;
  std::uint64_t written = 0;
  const auto put = [&](std::string_view bytes) {
    sink(bytes);
    written += bytes.size();
  };
  for (const auto& [name, values] : arrays) {
    std::string file;
    write_npy(
        values, [&](std::string_view piece) { file += piece; }, options.type);
    ZipMember member{name + std::string(suffix), options.compressed, crc32_of(bytes_of(file)),
                     file.size(), bytes_of(file)};
    const Bytes packed = options.compressed ? deflate(member.bytes) : Bytes();
    if (options.compressed) member.bytes = packed;
    offsets.push_back(written);
    put(zip_member_header(member));
    put({reinterpret_cast<const char*>(member.bytes.data()), member.bytes.size()});
    members.push_back(member);  // only the size of its bytes is used from here on
  }
  put(zip_directory_bytes(members, offsets, written));
}

}  // namespace bochner
