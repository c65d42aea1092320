#pragma once
/// Functions that register the mixers, one per source file.

#include <bochner/layers/mixers/mixer.hpp>
#include <bochner/layers/mixers/mixer_spec.hpp>

namespace bochner::inline BOCHNER_PRECISION {

void add_softmax(Mixers& all);
void add_linear(Mixers& all);
void add_hgrn2(Mixers& all);
void add_ssm(Mixers& all);
void add_min_gru(Mixers& all);
void add_mlstm(Mixers& all);
void add_hyena(Mixers& all);
void add_h3(Mixers& all);
void add_sgconv(Mixers& all);
void add_long_conv(Mixers& all);
/// Makes mixer "linear" with update "delta".
std::unique_ptr<Mixer> make_delta_mixer(const MixerSpec& spec);

}  // namespace bochner::inline BOCHNER_PRECISION
