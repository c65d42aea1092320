#pragma once
/// What a config says about models besides the keys that their Specs describe.

#include <bochner/layers/models/token_models.hpp>
#include <bochner/train/config/config.hpp>

namespace bochner {

/// Seed, and steps between draws counted in training passes.
void complete(DensitySpec& density, const Config& config);
/// The same in the blocks. `length`: tokens of the longest sequence that they see; feature maps
/// that tell positions apart are made for it, unless model.mixer.features.length says more.
void complete(StackSpec& stack, const Config& config, std::size_t length);
/// The seeds of the encoding of places.
void complete_encoding(TrunkSpec& trunk, const Config& config);
LanguageModelSpec trunk_spec(const Config& config, std::size_t length);
/// What the loss sees in training.
void complete_loss(LanguageModelSpec& spec, const Config& config);
/// A language model with initial weights from the seed; throws as the layers do.
std::unique_ptr<LanguageModel> make_language_model(const LanguageModelSpec& spec,
                                                   std::uint64_t seed);

/// Lets two tokens through blocks as a config describes them, so that what a layer refuses is said
/// before there are data and a run. Throws std::invalid_argument.
void try_blocks(const Config& config);

/// "linear(positive, gaussian, m 64) x decay", "linear(elu, gaussian, m 64, delta) x gate per
/// channel", "ssm(s4d)", "hyena(spectral)"
std::string describe_mixer(const MixerSpec& mixer);
/// "4 blocks, D 128, linear(positive, gaussian, m 64) x decay", of a pattern of several mixers
/// "8 blocks, D 128, 3 linear(positive, gaussian, m 64) x gate + softmax"
std::string describe_stack(const StackSpec& spec);
/// "flow (rotate)" or "none"
std::string describe_time(const TimeEncodingSpec& spec);

}  // namespace bochner
