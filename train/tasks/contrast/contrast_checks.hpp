#pragma once

#include <bochner/train/config/config.hpp>

namespace bochner {

/// Throws ConfigError if keys do not suit contrastive learning.
void check_contrast(const Config& config);

}  // namespace bochner
