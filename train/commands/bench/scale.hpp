#pragma once
#include <bochner/train/commands/command_line.hpp>

namespace bochner {

/// Adds `bench scale`: time of a training step, and its prediction for many processes.
void add_scale_bench(const Command& bench);

}  // namespace bochner
