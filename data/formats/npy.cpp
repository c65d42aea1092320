#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/files/regular_file.hpp>
#include <bochner/data/formats/npy.hpp>
#include <cmath>
#include <limits>
#include <set>

namespace bochner {
namespace {

constexpr std::size_t alignment = 64;

/// Parser of a file's front: magic, version, length, and a dictionary of three keys.
class HeaderParser {
 public:
  HeaderParser(ByteSpan front, const std::string& name)
      : begin_(reinterpret_cast<const char*>(front.data())),
        rest_(begin_, front.size()),
        name_(name) {}

  StoredLayout parse() {
    StoredLayout header;
    rest_ = dictionary_text();
    header.data_begin = std::size_t(rest_.data() + rest_.size() - begin_);
    expect('{');
    std::set<std::string_view> seen;
    while (!accept('}')) {
      const std::string_view key = quoted();
      expect(':');
      const bool is_new = seen.insert(key).second;
      if (is_new && key == "descr") {
        header.type = type();
      } else if (is_new && key == "fortran_order") {
        header.by_columns = flag();
      } else if (is_new && key == "shape") {
        read_shape(header);
      } else {
        fail("has an unknown or repeated key ", excerpt(key), " in its header");
      }
      if (!accept(',') && !sees('}')) malformed();
    }
    if (seen.size() < 3) fail("lacks descr, fortran_order or shape in its header");
    return header;
  }

 private:
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... what) const {
    throw DataError(name_, ": ", what..., "; save it with numpy.save(FILE, array)");
  }
  [[noreturn]] void malformed() const {
    fail("has a malformed header at byte ", rest_.data() - begin_);
  }

  std::string_view take(std::size_t size) {
    if (size > rest_.size()) fail("ends within its header");
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view dictionary_text() {
    if (take(npy_magic.size()) != npy_magic) fail("is not a .npy file");
    const std::string_view version = take(2);
    if (version[0] < 1 || version[0] > 3) fail("has a format version above 3.0");
    std::size_t length = 0;
    const std::string_view digits = take(version[0] == 1 ? 2 : 4);
    for (std::size_t i = digits.size(); i-- > 0;)
      length = length << 8 | static_cast<unsigned char>(digits[i]);
    if (length > longest_npy_header - 12) fail("has a header of ", length, " bytes");
    return take(length);
  }

  bool sees(char character) {
    while (rest_.starts_with(' ') || rest_.starts_with('\n')) rest_.remove_prefix(1);
    return rest_.starts_with(character);
  }
  bool accept(char character) {
    if (!sees(character)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char character) {
    if (!accept(character)) malformed();
  }

  std::string_view quoted() {
    const char quote = sees('"') ? '"' : '\'';
    expect(quote);
    const std::string_view text = rest_.substr(0, rest_.find(quote));
    take(text.size());
    expect(quote);
    return text;
  }

  ElementType type() {
    if (sees('[')) fail("holds records; only plain numbers are read");
    const std::string_view text = quoted();
    if (text.size() == 3 && std::string_view("<>|=").find(text[0]) != text.npos) {
      const ElementType type{text[1], std::size_t(text[2] - '0'), text[0] == '>'};
      if (!to_string(type).empty()) return type;
    }
    fail("holds elements of type ", excerpt(text), "; must be one of ", element_type_names());
  }

  bool flag() {
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      sees(word[0]);  // passes over spaces
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    fail("has a fortran_order that is neither True nor False");
  }

  void read_shape(StoredLayout& layout) {
    if (!accept('(')) fail("has a shape that is not a tuple");
    while (!accept(')')) {
      sees(' ');
      const std::size_t digits = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
      const auto size = parse_count(rest_.substr(0, digits));
      if (!size) fail("has a shape with ", excerpt(rest_.substr(0, rest_.find_first_of(",)"))));
      rest_.remove_prefix(digits);
      accept('L');  // of Python 2
      if (!accept(',') && !sees(')')) fail("has a shape that is not a tuple");
      if (!layout.add_axis(*size)) fail("claims a shape of more than 2^60 elements or 32 axes");
    }
  }

  const char* begin_;
  std::string_view rest_;
  const std::string& name_;
};

template <class Stored>
bool fits(double number) {
  if constexpr (std::floating_point<Stored>)
    return !std::isfinite(number) || std::abs(number) <= std::numeric_limits<Stored>::max();
  const double above = std::ldexp(1.0, std::numeric_limits<Stored>::digits);
  const double lowest = std::signed_integral<Stored> ? -above : 0;
  return number >= lowest && number < above && number == std::trunc(number);
}

std::vector<std::size_t> shape_of(const xt::xarray<double>& values) {
  return {values.shape().begin(), values.shape().end()};
}

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

StoredLayout parse_npy_header(ByteSpan front, const std::string& name) {
  return HeaderParser(front.first(std::min(front.size(), longest_npy_header)), name).parse();
}

std::string npy_header_bytes(const ElementType& type, const std::vector<std::size_t>& shape) {
  std::string text = "{'descr': '";
  text += type.size == 1 ? '|' : '<';
  text += type.kind + std::to_string(type.size) +
          "', 'fortran_order': False, 'shape': " + shape_text(shape) + ", }";
  const std::size_t before = 10;  // magic, version 1.0 and length
  text.append(alignment - 1 - (before + text.size()) % alignment, ' ');
  text += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += char(text.size() & 0xff);
  bytes += char(text.size() >> 8);
  return bytes + text;
}

StoredArray parse_npy(ByteSpan file, const std::string& name) {
  return {parse_npy_header(file, name), file, name};
}

xt::xarray<double> read_npy(const std::filesystem::path& path) {
  const Input input(path);
  const StoredArray array = parse_npy(input.bytes(), input.name());
  const auto fail = [&](const auto&... what) {
    throw DataError(input.name(), ": ", what..., "; save it with numpy.save(FILE, matrix)");
  };
  if (array.shape().size() != 2) fail("has shape ", shape_text(array.shape()), ", not a matrix");
  if (array.size() == 0) fail("is empty");
  xt::xarray<double> matrix = array.values();
  for (std::size_t i = 0; i < matrix.size(); ++i)
    if (!(std::abs(matrix.data()[i]) <= double(std::numeric_limits<float>::max())))
      fail("row ", i / matrix.shape(1), " holds a number that is not finite");
  return matrix;
}

void write_npy(const xt::xarray<double>& values, const Sink& sink, const ElementType& type) {
  sink(npy_header_bytes(type, shape_of(values)));
  std::string piece;
  const auto append = [&](double number, auto zero) {
    using Stored = decltype(zero);
    if (!fits<Stored>(number))
      throw DataError("cannot write ", format_number(number), " as ", to_string(type),
                      "; choose a type that holds it");
    const auto stored = Stored(number);
    piece.append(reinterpret_cast<const char*>(&stored), sizeof(Stored));
  };
  with_type(type, [&](auto zero) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      append(values.data()[i], zero);
      if (piece.size() < piece_size) continue;
      sink(piece);
      piece.clear();
    }
  });
  sink(piece);
}

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
