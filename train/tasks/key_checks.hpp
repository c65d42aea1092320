#pragma once
/// What keys demand of each other.

#include <bochner/train/config/parameters.hpp>

namespace bochner {

/// In the order in which they complain.
const std::vector<ConfigCheck>& key_checks();

}  // namespace bochner
