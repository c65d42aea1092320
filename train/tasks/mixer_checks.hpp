#pragma once
/// What keys of model.mixer demand of the mixers that a config names.

#include <bochner/layers/mixers/mixer_spec.hpp>
#include <bochner/train/tasks/encoding_checks.hpp>

namespace bochner {

/// The key that names the mixers: model.pattern, or model.mixer.kind where that is empty.
std::string mixer_key(const Config& config);

/// The mixers that model.pattern names, or model.mixer.kind where it is empty, with all keys as
/// they are set: a stack leaves out what a mixer lacks, see block_spec().
std::vector<MixerSpec> named_mixers(const Config& config);

/// Whether one of them has it: some_mixer(config, &MixerTraits::heads).
bool some_mixer(const Config& config, bool MixerTraits::*trait);

/// Keys of kinds, forms and filters that the config does not name.
std::vector<UnheededKey> unused_mixer_keys(const Config& config);

/// Throws ConfigError where the tokens of the data have no order and the mixers give them one.
void check_order(const Config& config);

}  // namespace bochner
