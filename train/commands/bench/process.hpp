#pragma once
#include <bochner/train/commands/command_line.hpp>

namespace bochner {

/// Adds `bench process`: marginal likelihood of a Gaussian process with its gradient.
void add_process_bench(const Command& bench);

}  // namespace bochner
