#pragma once
#include <bochner/train/commands/command_line.hpp>

namespace bochner {

/// `bench generate`: tokens of a reference model one by one, of one text and of many.
void add_generate_bench(const Command& bench);

}  // namespace bochner
