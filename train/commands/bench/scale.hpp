#pragma once
#include <bochner/train/commands/command_line.hpp>

namespace bochner {

/// `bochner bench scale`: what a step of a run costs, and what it would cost many processes.
void add_scale_bench(const Command& bench);

}  // namespace bochner
