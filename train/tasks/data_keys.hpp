#pragma once
#include <bochner/train/tasks/encoding_checks.hpp>

namespace bochner {

/// Keys of the data that the chosen kind has not, and of models that learn other data.
std::vector<UnheededKey> keys_of_other_data(const Config& config);

}  // namespace bochner
