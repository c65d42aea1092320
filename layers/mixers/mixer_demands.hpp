#pragma once
/// What mixers demand, in words of one kind.

#include <bochner/layers/mixers/mixer_spec.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Throws where the spec asks for what the traits of its kind say that it lacks. What stands
/// without effect in the specs of all kinds is left to checks of configs: heads, convolution, rates
/// per channel.
void require_traits(const MixerSpec& spec);

/// Throws where a mixer sees what follows, of which there is nothing yet token by token.
void require_causal_step(bool causal, const std::string& kind);

/// Throws where tokens are not at equal distances, of mixers that count tokens in place of time.
void require_equal_distances(bool equal, const std::string& kind);

}  // namespace bochner::inline BOCHNER_PRECISION
