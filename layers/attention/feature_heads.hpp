#pragma once
/// What mixers over feature maps share.

#include <bochner/layers/attention/mixer_spec.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// The spec of the feature map, with the sizes that follow from the mixer's.
inline FeatureSpec features_per_head(const MixerSpec& spec) {
  FeatureSpec features = spec.features;
  features.heads = features.density.heads = spec.heads;
  features.dim = features.density.dim = spec.width / spec.heads;
  features.density.m = features.m;
  return features;
}

/// (1, 1, H, n) -> (H, n)
inline Tensor single_token(const Var& x) {
  Tensor token = x.value();
  token.reshape(Shape{x.dim(2), x.dim(3)});
  return token;
}

}  // namespace bochner::inline BOCHNER_PRECISION
