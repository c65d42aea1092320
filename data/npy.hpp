#pragma once
/// Arrays of numbers in NumPy's .npy format.

#include <bochner/autodiff/tensor.hpp>
#include <bochner/data/array.hpp>
#include <bochner/data/npy_header.hpp>
#include <filesystem>

namespace bochner::inline BOCHNER_PRECISION {

/// The array of a .npy file; the bytes must outlive it. Throws DataError unless they hold exactly
/// the elements that the header claims, before anything is allocated.
StoredArray parse_npy(ByteSpan file, const std::string& name);

/// A matrix of finite numbers. -> (rows, columns). Throws IoError when the file cannot be read,
/// DataError when it holds something else.
Tensor read_npy(const std::filesystem::path& path);

/// As elements of `type`, little-endian and row-major. Throws DataError for a number that is none
/// of an integer type; to float32 it is rounded.
void write_npy(const xt::xarray<double>& values, const Sink& sink, const ElementType& type = {});

}  // namespace bochner::inline BOCHNER_PRECISION
