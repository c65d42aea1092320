#pragma once
/// Models as a config describes them: from its keys to the specs of layers.

#include <bochner/layers/models/trunk.hpp>
#include <bochner/train/config/config.hpp>

namespace bochner::inline BOCHNER_PRECISION {

MixerSpec mixer_spec(const Config& config);
BlockSpec block_spec(const Config& config);
StackSpec stack_spec(const Config& config);
TrunkSpec trunk_spec(const Config& config);

/// "4 blocks, D 128, linear(positive, gaussian, m 64) x decay"
std::string describe_stack(const StackSpec& spec);
/// The same with ", positions learned".
std::string describe_trunk(const TrunkSpec& spec);

}  // namespace bochner::inline BOCHNER_PRECISION
