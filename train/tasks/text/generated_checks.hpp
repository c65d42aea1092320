#pragma once
/// What keys of generated sequences demand of each other; throw ConfigError.

#include <bochner/train/config/config.hpp>

namespace bochner {

void check_token_task(const Config& config);
void check_list_ops(const Config& config);

}  // namespace bochner
