#pragma once
/// Weights for other programs, in the safetensors format.

#include <bochner/data/formats/array.hpp>
#include <bochner/train/run/checkpoint_file.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// The tensors sorted by name; equal tensors give equal files. Layout: u64 length of a JSON
/// header (name -> dtype, shape, data_offsets), the header padded with blanks to 8 bytes, then the
/// data without gaps.
void write_safetensors(const Sink& sink, std::vector<TensorRecord> tensors);

}  // namespace bochner::inline BOCHNER_PRECISION
