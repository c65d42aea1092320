#pragma once
/// Models as a config describes them: from its keys to the specs of layers.

#include <bochner/layers/models/trunk.hpp>
#include <bochner/train/config/config.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// `length`: tokens of the longest sequence that the blocks see; feature maps that tell positions
/// apart are made for it, unless model.mixer.features.length says more.
BlockSpec block_spec(const Config& config, std::size_t length);
StackSpec stack_spec(const Config& config, std::size_t length);
TrunkSpec trunk_spec(const Config& config, std::size_t length);

/// "4 blocks, D 128, linear(positive, gaussian, m 64) x decay"
std::string describe_stack(const StackSpec& spec);
/// The same with ", positions learned".
std::string describe_trunk(const TrunkSpec& spec);

}  // namespace bochner::inline BOCHNER_PRECISION
