#pragma once
/// Which keys the chosen kinds of data and model, and the training, heed.

#include <bochner/train/tasks/unheeded_keys.hpp>

namespace bochner {

std::vector<KeyUse> uses_of_models(const Config& config);
/// Of keys that only some kinds of data or model have.
std::vector<KeyUse> uses_of_data(const Config& config);
/// Of the patches of series and of images.
std::vector<KeyUse> uses_of_patches(const Config& config);
std::vector<KeyUse> uses_of_training(const Config& config);

}  // namespace bochner
