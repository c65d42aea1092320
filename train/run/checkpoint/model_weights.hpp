#pragma once
/// Tensors out of a checkpoint into a model or a trainer.

#include <bochner/layers/module.hpp>
#include <bochner/train/run/checkpoint/checkpoint_file.hpp>

namespace bochner {

/// Copies what the checkpoint holds under these names; the others are returned with the reason.
std::vector<std::string> load_tensors(const CheckpointReader& checkpoint,
                                      const std::vector<NamedTensor>& wanted);
/// Throws DataError that lists what was left out, if anything was.
void require_complete(const CheckpointReader& checkpoint, const std::vector<std::string>& left_out);

/// What the names of weights in a checkpoint begin with: those of the average if there is one and
/// it is wanted.
std::string prefix_of_weights(const CheckpointReader& checkpoint, bool averaged);

/// Copies a checkpoint's weights and buffers into a model, the averaged weights if it has them and
/// they are wanted. Throws DataError that lists missing and mis-shaped tensors.
void load_model(const CheckpointReader& checkpoint, Module& model, bool averaged);

}  // namespace bochner
