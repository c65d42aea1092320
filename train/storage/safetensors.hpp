#pragma once
/// Weights for other programs, in the safetensors format.

#include <bochner/train/storage/checkpoint_file.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Writes the tensors sorted by name; equal tensors give equal files. Layout: u64 length of a JSON
/// header (name -> dtype, shape, data_offsets), the header padded with blanks to 8 bytes, then the
/// data without gaps.
void save_safetensors(FileStorage& storage, const Path& path, std::vector<TensorRecord> tensors);

}  // namespace bochner::inline BOCHNER_PRECISION
