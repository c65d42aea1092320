#pragma once

#include <bochner/train/commands/command_line.hpp>

namespace bochner {

/// Adds `data check`, which prints what a table was understood to hold.
void add_data_check(const Command& group);

}  // namespace bochner
