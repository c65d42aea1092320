#pragma once
/// Functions that register the mixers, and checks that mixers share.

#include <bochner/layers/mixers/mixer.hpp>
#include <bochner/layers/mixers/mixer_spec.hpp>

namespace bochner::inline BOCHNER_PRECISION {

using AddMixer = void(Mixers& all);
AddMixer add_softmax, add_linear, add_hgrn2, add_ssm, add_min_gru, add_mlstm, add_mamba, add_mamba2,
    add_rwkv7, add_log_linear, add_hyena, add_h3, add_sgconv, add_long_conv;
/// Makes mixer "linear" with update "delta".
std::unique_ptr<Mixer> make_delta_mixer(const MixerSpec& spec);

/// Reverses each sequence; padding stays in place. (B, T, D) -> (B, T, D)
Var reversed_sequences(const Var& x, const std::vector<std::size_t>& lengths);

/// State that is one tensor, () before the first token.
struct TensorState : MixerState {
  Tensor values;
};

/// Throws if the spec uses a feature that the traits of its kind lack. Keys without effect (heads,
/// convolution, rates per channel) are left to config checks.
void require_traits(const MixerSpec& spec);

/// Throws unless the heads divide the width.
void require_heads(const MixerSpec& spec);

/// Throws if a mixer that sees later tokens is computed token by token.
void require_causal_step(bool causal, const std::string& kind);

/// Throws unless tokens are at equal distances, for mixers that count tokens.
void require_equal_distances(bool equal, const std::string& kind);

}  // namespace bochner::inline BOCHNER_PRECISION
