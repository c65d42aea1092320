#pragma once
/// Which keys the chosen kinds of data and model, and the training, heed.

#include <bochner/train/tasks/unused_keys.hpp>

namespace bochner {

std::vector<KeyCondition> uses_of_models(const Config& config);
/// Of keys that only some kinds of data or model have.
std::vector<KeyCondition> uses_of_data(const Config& config);
/// Of the patches of series and of images.
std::vector<KeyCondition> uses_of_patches(const Config& config);
std::vector<KeyCondition> uses_of_training(const Config& config);

}  // namespace bochner
