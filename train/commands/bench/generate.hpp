#pragma once
#include <bochner/train/commands/command_line.hpp>

namespace bochner {

/// Adds `bench generate`: token-by-token generation of one text and of a batch.
void add_generate_bench(const Command& bench);

}  // namespace bochner
