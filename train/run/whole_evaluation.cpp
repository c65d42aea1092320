#include <bochner/train/run/whole_evaluation.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

std::vector<double> sums_in(const Evaluation& part) {
  std::vector<double> sums = {part.loss_sum, double(part.terms)};
  for (const Measure& measure : part.measures)
    sums.insert(sums.end(), {measure.sum, measure.terms});
  return sums;
}

/// The same with other sums.
Evaluation with_sums(Evaluation part, const double* sums) {
  part.loss_sum = *sums++;
  part.terms = std::uint64_t(*sums++);
  for (Measure& measure : part.measures) {
    measure.sum = *sums++;
    measure.terms = *sums++;
  }
  return part;
}

}  // namespace

Evaluation evaluate_all(Task& task, Split split, std::size_t batch, Processes& processes) {
  const std::uint64_t batches = task.data().batches(split, batch);
  if (processes.size() == 1 || batches == 0) return evaluate_all(task, split, batch);
  const bool has_rest = task.data().rest(split).size() > 0;
  Evaluation seen;  // names and units
  const std::vector<double> sums = processes.gather(batches + has_rest, [&](std::size_t index) {
    Tape tape;
    tape.recording = false;
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

}  // namespace bochner::inline BOCHNER_PRECISION
