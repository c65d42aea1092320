#pragma once
/// What mixers over feature maps share.

#include <bochner/autodiff/ops/normalisation.hpp>
#include <bochner/layers/attention/time_kernel.hpp>
#include <bochner/layers/mixers/mixer_spec.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// The spec of the feature map, with the sizes that follow from the mixer's.
inline FeatureSpec features_per_head(const MixerSpec& spec) {
  FeatureSpec features = spec.features;
  features.heads = spec.heads;
  features.dim = spec.width / spec.heads;
  return features;
}

/// Whether weights may be below 0, so that their sums need a policy. With rates per channel every
/// feature fades on its own, and those with signs no longer sum to what is positive.
inline bool has_signed_weights(const MixerSpec& spec, const FeatureMap& map) {
  return spec.time_kernel.per == "channel" ? map.has_signed_features() : !map.positive();
}

/// Whether the policy for denominators adds a constant feature; the delta rule has none.
inline bool adds_constant(const MixerSpec& spec, const FeatureMap& map) {
  return spec.update == "sum" && has_signed_weights(spec, map) && spec.denominator.kind == "smooth";
}

/// The features of the keys, counted on a token of zeros; those of one frequency m apart.
inline KeyChannels channels_of(const MixerSpec& spec, FeatureMap& map) {
  if (spec.time_kernel.per != "channel") return {};
  Tape tape({.recording = false});
  const Shape token{1, 1, spec.heads, spec.width / spec.heads};
  const std::size_t F = map.keys(tape, tape.constant(zeros(token))).shape()[3];
  const bool constant = adds_constant(spec, map);
  return {F + constant, map.frequencies() ? spec.features.m : F, constant};
}

/// A token of each of B sequences, their heads one after the other. (B, 1, H, n) -> (B H, n)
inline Tensor single_token(const Var& x) {
  Tensor token = x.value();
  token.reshape(Shape{x.dim(0) * x.dim(2), x.dim(3)});
  return token;
}

/// Rates of the heads of B sequences, the same of all or their own. (H), (H, F), (B, 1, H) or (B,
/// 1, H, F) -> (B H) or (B H, F); () where there are none
inline Tensor single_rates(const Var& rate, std::size_t B) {
  if (!rate.exists()) return {};
  const bool own = rate.rank() > 2;
  Shape shape(rate.shape().begin() + (own ? 2 : 0), rate.shape().end()), each{B};
  for (const std::size_t size : shape) each.push_back(size);
  shape[0] *= B;
  return reshape(broadcast_to(own ? reshape(rate, each) : rate, each), shape).value();
}

/// A floor that no sum of weights reaches: a division by it is exact, and undone by a product.
inline constexpr real undivided = real(0x1p60);

/// The root mean square of each head made 1. (B, T, H, d)
inline Var normed_heads(const Var& y) { return rms_norm(y, Var(filled({y.dim(3)}, real(1)))); }

}  // namespace bochner::inline BOCHNER_PRECISION
