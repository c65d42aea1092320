#include <bochner/data/errors.hpp>
#include <bochner/data/mapped_file.hpp>
#include <bochner/data/npy.hpp>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t longest_header = 1 << 16;

struct Header {
  std::size_t item = 0;  // bytes of an element
  bool by_columns = false;
  std::size_t rows = 0, columns = 0;
};

/// Cuts a file into its parts; every error names the file.
class NpyReader {
 public:
  NpyReader(const std::filesystem::path& path, std::span<const std::uint8_t> bytes)
      : path_(path), rest_(reinterpret_cast<const char*>(bytes.data()), bytes.size()) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw DataError(path_.string() + ": " + what + "; save it with numpy.save(FILE, matrix)");
  }

  Header header() {
    const std::string_view text = header_text();
    Header header;
    const std::string_view type = text_after(text, "'descr'");
    header.item = type == "'<f4'" ? 4 : type == "'<f8'" ? 8 : 0;
    if (header.item == 0)
      fail("elements of type " + std::string(type) + "; there are '<f4' and '<f8'");
    const std::string_view order = text_after(text, "'fortran_order'");
    if (order != "True" && order != "False") fail("fortran_order is neither True nor False");
    header.by_columns = order == "True";
    read_shape(text, header);
    return header;
  }
  /// What follows the header.
  std::string_view data() const { return rest_; }

 private:
  std::string_view take(std::size_t size) {
    if (size > rest_.size()) fail("ends within its header");
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view header_text() {
    if (take(6) != "\x93NUMPY") fail("is no .npy file");
    const std::string_view version = take(2);
    if (version[0] < 1 || version[0] > 3) fail("is of a version of the format after 3.0");
    std::size_t length = 0;
    const std::string_view digits = take(version[0] == 1 ? 2 : 4);
    for (std::size_t i = digits.size(); i-- > 0;)
      length = length << 8 | static_cast<unsigned char>(digits[i]);
    if (length > longest_header) fail("has a header of " + std::to_string(length) + " bytes");
    return take(length);
  }

  /// The value of a key of the dictionary in the header, up to the next comma or brace.
  std::string_view text_after(std::string_view text, std::string_view key) const {
    std::size_t begin = text.find(key);
    if (begin == std::string_view::npos) fail("has no " + std::string(key) + " in its header");
    begin = text.find_first_not_of(": ", begin + key.size());
    if (begin == std::string_view::npos) fail("ends within its header");
    const std::string_view value = text.substr(begin, text.find_first_of(",}", begin) - begin);
    return value.substr(0, value.find_last_not_of(' ') + 1);
  }

  void read_shape(std::string_view text, Header& header) const {
    std::size_t begin = text.find("'shape'");
    if (begin != std::string_view::npos) begin = text.find('(', begin);
    if (begin == std::string_view::npos) fail("has no 'shape' in its header");
    const std::string_view shape = text.substr(begin + 1, text.find(')', begin) - begin - 1);
    const std::size_t comma = shape.find(',');
    if (comma == std::string_view::npos || !read_size(shape.substr(0, comma), header.rows) ||
        !read_size(shape.substr(comma + 1), header.columns))
      fail("is of shape (" + std::string(shape) + "), not a matrix");
  }

  static bool read_size(std::string_view text, std::size_t& size) {
    while (text.starts_with(" ")) text.remove_prefix(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    return error == std::errc() && end == text.data() + text.size();
  }

  const std::filesystem::path& path_;
  std::string_view rest_;
};

/// Divisions instead of products: a claim of 2^60 rows must not overflow into a small one.
void require_exact_size(const NpyReader& reader, const Header& header) {
  const std::size_t elements = reader.data().size() / header.item;
  if (header.rows == 0 || header.columns == 0) reader.fail("is empty");
  if (reader.data().size() % header.item != 0 || elements / header.columns != header.rows ||
      elements % header.columns != 0)
    reader.fail("claims (" + std::to_string(header.rows) + ", " + std::to_string(header.columns) +
                ") and holds " + std::to_string(reader.data().size()) + " bytes");
}

template <class Number>
Tensor converted(const NpyReader& reader, const Header& header) {
  Tensor matrix = uninitialized({header.rows, header.columns});
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    const std::size_t row = i / header.columns, column = i % header.columns;
    const std::size_t at = header.by_columns ? column * header.rows + row : i;
    Number number;
    std::memcpy(&number, reader.data().data() + at * sizeof(Number), sizeof(Number));
    if (!std::isfinite(real(number)))
      reader.fail("row " + std::to_string(row) + " holds a number that is not finite");
    matrix.data()[i] = real(number);
  }
  return matrix;
}

}  // namespace

Tensor read_npy(const std::filesystem::path& path) {
  const MappedFile file(path);
  NpyReader reader(path, file.bytes());
  const Header header = reader.header();
  require_exact_size(reader, header);
  return header.item == 4 ? converted<float>(reader, header) : converted<double>(reader, header);
}

}  // namespace bochner::inline BOCHNER_PRECISION
