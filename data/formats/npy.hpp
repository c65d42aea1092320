#pragma once
/// Arrays of numbers in NumPy's .npy format, versions 1 to 3.

#include <bochner/data/formats/array.hpp>
#include <bochner/data/formats/stored_array.hpp>
#include <filesystem>

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

/// The array of a .npy file; the bytes must outlive it. Throws DataError unless they hold exactly
/// the elements that the header claims, before anything is allocated.
StoredArray parse_npy(ByteSpan file, const std::string& name);

/// A matrix of numbers that a float holds. -> (rows, columns). Throws IoError when the file cannot
/// be read, DataError when it holds something else.
xt::xarray<double> read_npy(const std::filesystem::path& path);

/// As elements of `type`, little-endian and row-major. Throws DataError for a number that is none
/// of an integer type; to float32 it is rounded.
void write_npy(const xt::xarray<double>& values, const Sink& sink, const ElementType& type = {});

}  // namespace bochner
