#pragma once
/// The attention layers of a model, and what goes through them.

#include <bochner/layers/attention/projections.hpp>
#include <bochner/train/task.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct AttentionLayer {
  std::string name;  ///< "blocks.0.mixer"
  const Mixer* mixer = nullptr;
  FeatureMap* features = nullptr;      ///< none for exact attention
  SpectralDensity* density = nullptr;  ///< none for maps without one
  TimeKernel* time_kernel = nullptr;   ///< none for mixers without one
};
/// In the order of the model's parts.
std::vector<AttentionLayer> attention_layers(Module& model);

/// What one layer compares in a batch.
struct AttentionSample {
  Tensor q, k;  ///< (B, T, H, d)
  Tensor rate;  ///< (H), (B, T, H) of irregular tokens, or empty without a time kernel
  bool causal = true;
};
/// Queries and keys of each layer in validation batch `index` of `size` examples.
std::vector<AttentionSample> attention_samples(Task& task,
                                               const std::vector<AttentionLayer>& layers,
                                               std::uint64_t index, std::size_t size);

}  // namespace bochner::inline BOCHNER_PRECISION
