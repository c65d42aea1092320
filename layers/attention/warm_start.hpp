#pragma once
#include <bochner/layers/attention/projections.hpp>
#include <bochner/layers/mixers/mixer_spec.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// First steps of training in which linear attention computes its target kernel exp(q . k /
/// sqrt(d)) exactly, in quadratic time, and trains its features to match. Projections learn from
/// exact attention, and the map from their outputs, before they depend on each other. Distillation
/// of attention: Zhang et al., "Hedgehog", 2024.
class WarmStart {
 public:
  /// Throws if the map is known to estimate another kernel, or exact attention cannot have the
  /// mixer's time kernel or denominator.
  WarmStart(const MixerSpec& spec, const FeatureMap& map);
  bool is_on(const Tape& tape) const { return tape.training && tape.step < passes_; }
  /// Returns exact attention (B, T, H, d) and adds mean (estimate - exact)^2 / mean exact^2 to the
  /// tape's loss, with gradients for the feature map only. `estimate` attends by features.
  Var forward(Tape& tape, const Heads& heads, const Var& rate, const Layout& layout,
              const std::function<Var(const Heads& heads, const Var& rate)>& estimate) const;

 private:
  std::uint64_t passes_;
  bool causal_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
