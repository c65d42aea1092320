#pragma once
/// Tensors out of a checkpoint into a model or a trainer, and into files for other programs.

#include <bochner/data/formats/array.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/train/run/checkpoint_file.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Copies what the checkpoint holds under these names; the others are returned with the reason.
std::vector<std::string> load_tensors(const CheckpointReader& checkpoint,
                                      const std::vector<NamedTensor>& wanted);
/// Throws DataError that lists what was left out, if anything was.
void require_complete(const CheckpointReader& checkpoint, const std::vector<std::string>& left_out);

/// Copies a checkpoint's weights and buffers into a model, the averaged weights if it has them and
/// they are wanted. Throws DataError that lists missing and mis-shaped tensors.
void load_model(const CheckpointReader& checkpoint, Module& model, bool averaged);

/// Weights in the safetensors format, sorted by name; equal tensors give equal files. Layout: u64
/// length of a JSON header (name -> dtype, shape, data_offsets), the header padded with blanks to 8
/// bytes, then the data without gaps.
void write_safetensors(const Sink& sink, std::vector<TensorRecord> tensors);

}  // namespace bochner::inline BOCHNER_PRECISION
