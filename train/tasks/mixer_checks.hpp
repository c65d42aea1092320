#pragma once
/// The mixers that a config names.

#include <bochner/layers/mixers/mixer_spec.hpp>
#include <bochner/train/config/config.hpp>

namespace bochner {

/// The key that names the mixers: model.pattern, or model.mixer.kind where that is empty.
std::string mixer_key(const Config& config);

/// The kinds that model.pattern names, or model.mixer.kind where it is empty.
std::vector<std::string> mixer_kinds(const Config& config);
/// The mixers of those kinds with all keys as they are set: a stack leaves out what a mixer lacks,
/// see block_spec().
std::vector<MixerSpec> named_mixers(const Config& config);

/// Whether one of them has it: some_mixer(config, &MixerTraits::heads).
bool some_mixer(const Config& config, bool MixerTraits::*trait);

/// Whether one of them is of these kinds.
bool some_mixer_is(const Config& config, const std::vector<std::string>& kinds);
/// "needs model.mixer.kind = \"linear\"", or in the pattern.
std::string needs_one_of(const Config& config, const std::vector<std::string>& kinds);

/// Throws ConfigError where the tokens of the data have no order and the mixers give them one.
void check_order(const Config& config);

}  // namespace bochner
