#pragma once
/// The attention layers of a model, and what goes through them.

#include <bochner/layers/attention/mixer.hpp>
#include <bochner/train/tasks/task.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// A part of a model under its dotted name.
struct NamedPart {
  std::string name;
  Module* part;
};
/// In the order of the visit, each before its own parts.
std::vector<NamedPart> parts_of(Module& model);

struct AttentionLayer {
  std::string name;  ///< "blocks.0.mixer"
  const Mixer* mixer = nullptr;
  FeatureMap* features = nullptr;      ///< none for exact attention
  SpectralDensity* density = nullptr;  ///< none for maps without one
};
/// In the order of the model's parts.
std::vector<AttentionLayer> attention_layers(Module& model);

/// What one layer compares in a batch.
struct AttentionSample {
  Tensor q, k;      ///< (B, T, H, d)
  Tensor rate;      ///< of the time kernel: (H), (B, T, H), or () without one
  Tensor rotation;  ///< of the time kernel: (H, 2), or () without one
  Tensor turns;     ///< its features of the tokens: (B, T, H, 3), (1, T, H, 3), or () without one
  bool causal = true;
};
/// Queries and keys of each layer in validation batch `index` of `size` examples.
std::vector<AttentionSample> attention_samples(Task& task,
                                               const std::vector<AttentionLayer>& layers,
                                               std::uint64_t index, std::size_t size);

}  // namespace bochner::inline BOCHNER_PRECISION
