#pragma once
#include <bochner/train/commands/command_line.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// `bench process`: the marginal likelihood of a Gaussian process with its gradient.
void add_process_bench(const Command& bench);

}  // namespace bochner::inline BOCHNER_PRECISION
