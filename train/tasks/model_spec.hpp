#pragma once
/// Settings of models that depend on several keys of a config.

#include <bochner/layers/models/token_models.hpp>
#include <bochner/train/config/config.hpp>

namespace bochner {

/// Sets the seed, and converts steps between draws to training passes.
void complete(DensitySpec& density, const Config& config);
/// Completes the densities of all blocks. `length`: tokens of the longest sequence; feature maps
/// with positions are made for it, unless model.mixer.features.length is set.
void complete(StackSpec& stack, const Config& config, std::size_t length);
/// Sets the seeds of the encoding of places.
void complete_encoding(TrunkSpec& trunk, const Config& config);
LanguageModelSpec trunk_spec(const Config& config, std::size_t length);

/// Passes two tokens through the blocks of a config, to report errors of layers before data are
/// read and a run is made. Throws std::invalid_argument.
void try_blocks(const Config& config);

/// Returns "linear(positive, gaussian, m 64) x decay", "linear(elu, gaussian, m 64, delta) x gate
/// per channel", "ssm(s4d)", "hyena(spectral)".
std::string describe_mixer(const MixerSpec& mixer);
/// Returns "4 blocks, D 128, linear(positive, gaussian, m 64) x decay", or for a pattern of mixers
/// "8 blocks, D 128, 3 linear(positive, gaussian, m 64) x gate + softmax".
std::string describe_stack(const StackSpec& spec);
/// Whether the state of all blocks between tokens has a constant size, however long the text.
bool carries_context(const StackSpec& spec);
/// Returns "flow (rotate)" or "none".
std::string describe_time(const TimeEncodingSpec& spec);

}  // namespace bochner
