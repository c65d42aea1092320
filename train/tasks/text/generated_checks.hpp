#pragma once
/// Checks of the keys of generated sequences.

#include <bochner/train/config/config.hpp>

namespace bochner {

/// Throw ConfigError if keys contradict each other.
void check_token_task(const Config& config);
void check_list_ops(const Config& config);

}  // namespace bochner
