#pragma once
/// The header of NumPy's .npy format, versions 1 to 3.

#include <bochner/data/formats/stored_array.hpp>

namespace bochner {

/// Of the first bytes of a file; at most `longest_npy_header` are looked at. Nothing is allocated
/// by what the header claims. `name` stands in errors. Throws DataError for anything else than
/// numbers of the kinds above.
StoredLayout parse_npy_header(ByteSpan front, const std::string& name);
/// How every file begins.
constexpr std::string_view npy_magic = "\x93NUMPY";
constexpr std::size_t longest_npy_header = (1 << 16) + 12;

/// The bytes before the elements, in row-major order and little-endian; 64 or a multiple of it.
std::string npy_header_bytes(const ElementType& type, const std::vector<std::size_t>& shape);

}  // namespace bochner
