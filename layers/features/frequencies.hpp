#pragma once
#include <bochner/layers/features/feature_map.hpp>
#include <bochner/layers/features/projection.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// The frequencies of a feature map, (H, m, d): draws of the spectral density, or of a Projection
/// under a learned diagonal scale that starts at density.log_scale. With a spread s > 0 head h also
/// has a learned factor, which starts at exp(s_h), s_h evenly spaced on [-s, s].
class Frequencies : public Module {
 public:
  explicit Frequencies(const FeatureSpec& spec);
  Var draws(Tape& tape);
  void visit(Visitor& visitor) override;

 private:
  std::unique_ptr<SpectralDensity> density_;
  std::unique_ptr<Projection> projection_;
  Parameter log_scale_;       // (H, 1, d), with a projection
  Parameter log_head_scale_;  // (H, 1, 1), with a spread
};

}  // namespace bochner::inline BOCHNER_PRECISION
