#pragma once
/// The header of NumPy's .npy format, versions 1 to 3.

#include <bochner/data/gzip.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// What an element is: kind 'f' (float), 'i', 'u' (integers) or 'b' (bool), of 1 to 8 bytes.
struct NpyType {
  char kind = 'f';
  std::size_t size = 8;
  bool big_endian = false;
};

/// The name in NumPy: "float32", "uint8", "bool".
std::string to_string(const NpyType& type);
/// Of such a name. Throws std::invalid_argument with the names when there is none of this one.
NpyType npy_type(const std::string& name);

struct NpyHeader {
  NpyType type;
  bool by_columns = false;  ///< Fortran order: the first axis runs fastest
  std::vector<std::size_t> shape;
  std::size_t data_begin = 0;  ///< byte of the file at which the elements begin

  /// Product of the sizes; parse_npy_header() has seen to it that it does not overflow.
  std::size_t elements() const;
  std::uint64_t data_size() const { return std::uint64_t(elements()) * type.size; }
};

/// Of the first bytes of a file; at most `longest_npy_header` are looked at. Nothing is allocated
/// by what the header claims. `name` stands in errors. Throws DataError for anything else than
/// numbers of the kinds above.
NpyHeader parse_npy_header(ByteSpan front, const std::string& name);
constexpr std::size_t longest_npy_header = (1 << 16) + 12;

/// The bytes before the elements, in row-major order and little-endian; 64 or a multiple of it.
std::string npy_header_bytes(const NpyType& type, const std::vector<std::size_t>& shape);

/// "(2, 3)", "(4,)", "()", as in Python.
std::string shape_text(const std::vector<std::size_t>& shape);

}  // namespace bochner::inline BOCHNER_PRECISION
