#include <bochner/train/run/evaluation_sums.hpp>
#include <bochner/train/run/whole_evaluation.hpp>

namespace bochner {

Evaluation evaluate_all(Task& task, Split split, std::size_t batch, Processes& processes) {
  const std::uint64_t batches = task.data().batches(split, batch);
  if (processes.size() == 1 || batches == 0) return evaluate_all(task, split, batch);
  const bool has_rest = task.data().rest(split).size() > 0;
  Evaluation seen;  // names and units
  const std::vector<double> sums = processes.gather(batches + has_rest, [&](std::size_t index) {
    Tape tape({.recording = false});
    const Dataset& data = task.data();
    seen = task.evaluate(tape, index < batches ? data.part(split, index, batch) : data.rest(split));
    return sums_in(seen);
  });
  if (seen.terms == 0 && !processes.leads()) return seen;
  const std::size_t size = 2 + 2 * seen.measures.size();
  Evaluation total;
  for (std::size_t i = 0; i < sums.size(); i += size) total += with_sums(seen, sums.data() + i);
  return total;
}

}  // namespace bochner
