#pragma once
/// Loading of checkpoint tensors into a model or a trainer.

#include <bochner/layers/module.hpp>
#include <bochner/train/run/checkpoint/checkpoint_file.hpp>

namespace bochner {

/// Returns a model's parameters, under the prefix `weights`, and buffers, as checkpoints name them.
std::vector<NamedTensor> model_tensors(Module& model, const std::string& weights = model_prefix);
/// Returns tensors to be written; their data are borrowed.
std::vector<TensorRecord> records_of(const std::vector<NamedTensor>& tensors);
/// Copies tensors of these names; returns those not copied with the reason.
std::vector<std::string> load_tensors(const CheckpointReader& checkpoint,
                                      const std::vector<NamedTensor>& wanted);
/// Throws DataError that lists what was left out, if anything.
void require_complete(const CheckpointReader& checkpoint, const std::vector<std::string>& left_out);

/// Returns the prefix of weights in a checkpoint: that of the average if it exists and is wanted.
std::string prefix_of_weights(const CheckpointReader& checkpoint, bool averaged);

/// Copies a checkpoint's buffers into a model: statistics of the data, base draws.
void load_buffers(const CheckpointReader& checkpoint, Module& model);
/// Copies a checkpoint's weights and buffers into a model; averaged weights if they exist and are
/// wanted. Throws DataError that lists missing and mis-shaped tensors.
void load_model(const CheckpointReader& checkpoint, Module& model, bool averaged);

}  // namespace bochner
