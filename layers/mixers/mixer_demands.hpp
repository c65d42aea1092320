#pragma once
/// Checks shared by mixers.

#include <bochner/layers/mixers/mixer_spec.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Throws if the spec uses a feature that the traits of its kind lack. Keys without effect (heads,
/// convolution, rates per channel) are left to config checks.
void require_traits(const MixerSpec& spec);

/// Throws if a mixer that sees later tokens is computed token by token.
void require_causal_step(bool causal, const std::string& kind);

/// Throws unless tokens are at equal distances, for mixers that count tokens.
void require_equal_distances(bool equal, const std::string& kind);

}  // namespace bochner::inline BOCHNER_PRECISION
