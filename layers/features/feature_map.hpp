#pragma once
/// Feature maps phi: how a kernel is estimated by an inner product phi(x) . phi(y).

#include <bochner/autodiff/ops/sequence.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/layers/registry.hpp>
#include <bochner/layers/spectral/density.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct FeatureSpec {
  std::string kind = "positive";
  std::size_t heads = 1, dim = 32, m = 64;
  DensitySpec density;
};

/// One feature map for all heads of a layer; queries and keys go through it alike.
class FeatureMap : public Module {
 public:
  /// (B, T, H, d) -> (B, T, H, F)
  virtual Features features(Tape& tape, const Var& x) = 0;
};

/// phi(x) = exp(w_i . y - |y|^2 / 2), y = x / d^(1/4), frequencies w_i (H, m, d) of a learned
/// density; F = m. With w ~ N(0, I) an unbiased estimator of exp(x . x' / sqrt(d)); Choromanski et
/// al., "Performers", 2021.
class PositiveFeatures : public FeatureMap {
 public:
  explicit PositiveFeatures(const FeatureSpec& spec);
  Features features(Tape& tape, const Var& x) override;
  void visit(Visitor& visitor) override;

 private:
  std::unique_ptr<SpectralDensity> density_;
};

/// The feature maps that configs may name; a user's own are added here.
Registry<FeatureMap, FeatureSpec>& feature_maps();

}  // namespace bochner::inline BOCHNER_PRECISION
