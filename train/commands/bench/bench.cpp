#include <bochner/autodiff/real.hpp>
#include <bochner/train/commands/command_line.hpp>

namespace bochner::inline BOCHNER_PRECISION {

// Each stands in a file of its own name.
void add_bench_step(const Command& bench);
void add_bench_length(const Command& bench);

void add_bench(const Command& program) {
  const Command group = program.group("bench", "measure speed");
  add_bench_step(group);
  add_bench_length(group);
}

}  // namespace bochner::inline BOCHNER_PRECISION
