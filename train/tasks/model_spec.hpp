#pragma once
/// What a config says about models besides the keys that their Specs describe.

#include <bochner/layers/models/token_models.hpp>
#include <bochner/train/config/config.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Seed, and steps between draws counted in training passes.
void complete(DensitySpec& density, const Config& config);
/// The same in the blocks. `length`: tokens of the longest sequence that they see; feature maps
/// that tell positions apart are made for it, unless model.mixer.features.length says more.
void complete(StackSpec& stack, const Config& config, std::size_t length);
/// The seeds of the encoding of places.
void complete_encoding(TrunkSpec& trunk, const Config& config);
TrunkSpec trunk_spec(const Config& config, std::size_t length);
/// The language model that a config describes, with initial weights from train.seed; throws as the
/// layers do.
std::unique_ptr<LanguageModel> make_language_model(const Config& config);

/// "linear(positive, gaussian, m 64) x decay"
std::string describe_mixer(const MixerSpec& mixer);
/// "4 blocks, D 128, linear(positive, gaussian, m 64) x decay", of a pattern of several mixers
/// "8 blocks, D 128, 3 linear(positive, gaussian, m 64) x gate + softmax"
std::string describe_stack(const StackSpec& spec);
/// "flow (rotate)" or "none"
std::string describe_time(const TimeEncodingSpec& spec);

}  // namespace bochner::inline BOCHNER_PRECISION
