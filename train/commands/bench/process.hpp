#pragma once
#include <bochner/train/commands/command_line.hpp>

namespace bochner {

/// `bench process`: the marginal likelihood of a Gaussian process with its gradient.
void add_process_bench(const Command& bench);

}  // namespace bochner
