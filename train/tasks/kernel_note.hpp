#pragma once
/// Note on configs that are valid but probably a mistake.

#include <bochner/train/config/config.hpp>

namespace bochner {

/// Returns why the kernel of a config's linear attention is infinite, and what to choose; "" if it
/// is not.
std::string kernel_note(const Config& config);

}  // namespace bochner
