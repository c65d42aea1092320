#pragma once

#include <bochner/autodiff/tensor.hpp>
#include <filesystem>

namespace bochner::inline BOCHNER_PRECISION {

/// A matrix of NumPy's .npy format (versions 1 to 3; little-endian float32 or float64; either
/// memory order). -> (rows, columns). Nothing is allocated before the size is known to fit the
/// file. Throws IoError when the file cannot be read, DataError when it holds something else or a
/// number that is not finite.
Tensor read_npy(const std::filesystem::path& path);

}  // namespace bochner::inline BOCHNER_PRECISION
