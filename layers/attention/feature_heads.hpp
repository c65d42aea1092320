#pragma once
/// Helpers shared by mixers over feature maps.

#include <bochner/autodiff/ops/normalisation.hpp>
#include <bochner/layers/attention/time_kernel.hpp>
#include <bochner/layers/mixers/mixer_spec.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {

inline FeatureSpec features_per_head(const MixerSpec& spec) {
  FeatureSpec features = spec.features;
  features.heads = spec.heads;
  features.dim = spec.width / spec.heads;
  return features;
}

/// Returns whether weights may be negative, so that sums of them need a policy. With decay rates
/// per channel, features with signs decay separately and their products may sum to negative weights
/// even if the kernel is positive.
inline bool has_signed_weights(const MixerSpec& spec, const FeatureMap& map) {
  return spec.time_kernel.per == "channel" ? map.has_signed_features() : !map.positive();
}

/// Returns whether the policy for denominators adds a constant feature; the delta rule has none.
inline bool adds_constant(const MixerSpec& spec, const FeatureMap& map) {
  return spec.update == "sum" && has_signed_weights(spec, map) && spec.denominator.kind == "smooth";
}

/// Returns the layout of the key features, counted on a token of zeros; period m per frequency.
inline KeyChannels key_channels(const MixerSpec& spec, FeatureMap& map) {
  if (spec.time_kernel.per != "channel") return {};
  Tape tape({.recording = false});
  const Shape token{1, 1, spec.heads, spec.width / spec.heads};
  const std::size_t F = map.keys(tape, tape.constant(zeros(token))).shape()[3];
  const bool constant = adds_constant(spec, map);
  return {F + constant, map.frequencies() ? spec.features.m : F, constant};
}

/// Flattens the heads of one token of each of B sequences. (B, 1, H, n) -> (B H, n)
inline Tensor single_token(const Var& x) {
  Tensor token = x.value();
  token.reshape(Shape{x.dim(0) * x.dim(2), x.dim(3)});
  return token;
}

/// Flattens the rates of B sequences, shared or per sequence: (H), (H, F), (B, 1, H) or (B, 1, H,
/// F) -> (B H) or (B H, F); () without rates.
inline Tensor single_rates(const Var& rate, std::size_t B) {
  if (!rate.exists()) return {};
  const bool per_sequence = rate.rank() > 2;
  Shape shape(rate.shape().begin() + (per_sequence ? 2 : 0), rate.shape().end()), each{B};
  for (const std::size_t size : shape) each.push_back(size);
  shape[0] *= B;
  return reshape(broadcast_to(per_sequence ? reshape(rate, each) : rate, each), shape).value();
}

/// Floor above any sum of weights: dividing by it, a power of 2, is exact, and a product undoes it.
inline constexpr real unnormalized = real(0x1p60);

/// Scales each head to a root mean square of 1. (B, T, H, d)
inline Var normed_heads(const Var& y) { return rms_norm(y, Var(filled({y.dim(3)}, real(1)))); }

/// Scales each head to length 1. (B, T, H, n)
inline Var unit_heads(const Var& x) {
  const Var gain(filled({x.dim(3)}, real(1 / std::sqrt(double(x.dim(3))))));
  return rms_norm(x, gain, real(1e-12));
}

}  // namespace bochner::inline BOCHNER_PRECISION
