#pragma once
#include <bochner/layers/attention/projections.hpp>
#include <bochner/layers/mixers/mixer_spec.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// The first passes of a training, in which linear attention computes with the kernel that its map
/// estimates, exp(q . k / sqrt(d)) itself, in quadratic time, while its features are taught to give
/// the same outputs. So the projections learn from exact attention and the map learns from what
/// they send, before one depends on the other. Distillation of attention: Zhang et al., "Hedgehog",
/// 2024.
class WarmStart {
 public:
  /// Throws where the map is known to estimate another kernel, or attention has a factor that exact
  /// attention cannot have.
  WarmStart(const MixerSpec& spec, const FeatureMap& map);
  bool is_on(const Tape& tape) const { return tape.training && tape.step < passes_; }
  /// Exact attention, (B, T, H, d). `estimate` is the same by features, and the tape's loss grows
  /// by mean (estimate - exact)^2 / mean exact^2, whose gradient reaches the feature map alone.
  Var forward(Tape& tape, const Heads& heads, const Var& rate, const Layout& layout,
              const std::function<Var(const Heads& heads, const Var& rate)>& estimate) const;

 private:
  std::uint64_t passes_;
  bool causal_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
