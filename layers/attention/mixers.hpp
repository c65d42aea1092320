#pragma once
/// Each mixer lies in a file of its own, which adds it to the registry.

#include <bochner/layers/attention/mixer.hpp>
#include <bochner/layers/attention/mixer_spec.hpp>

namespace bochner::inline BOCHNER_PRECISION {

void add_softmax(Registry<Mixer, MixerSpec>& all);
void add_linear(Registry<Mixer, MixerSpec>& all);
void add_hgrn2(Registry<Mixer, MixerSpec>& all);
void add_ssm(Registry<Mixer, MixerSpec>& all);
void add_min_gru(Registry<Mixer, MixerSpec>& all);
void add_mlstm(Registry<Mixer, MixerSpec>& all);
void add_hyena(Registry<Mixer, MixerSpec>& all);
void add_h3(Registry<Mixer, MixerSpec>& all);
void add_sgconv(Registry<Mixer, MixerSpec>& all);
void add_long_conv(Registry<Mixer, MixerSpec>& all);
/// That of "linear" where update is "delta".
std::unique_ptr<Mixer> make_delta_mixer(const MixerSpec& spec);

}  // namespace bochner::inline BOCHNER_PRECISION
