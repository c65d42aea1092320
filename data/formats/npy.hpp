#pragma once
/// Arrays of numbers in NumPy's .npy format.

#include <bochner/data/formats/array.hpp>
#include <bochner/data/formats/npy_header.hpp>
#include <filesystem>

namespace bochner {

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
