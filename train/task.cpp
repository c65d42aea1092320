#include <algorithm>
#include <bochner/train/task.hpp>

namespace bochner::inline BOCHNER_PRECISION {

std::optional<double> validation_loss(Task& task, std::size_t batch, std::uint64_t limit,
                                      const std::function<bool()>& should_stop) {
  std::uint64_t batches = task.validation_batches(batch);
  require(batches > 0, "validation", "there is no validation data; set data.validation above 0");
  if (limit > 0) batches = std::min(batches, limit);
  double total = 0;
  std::uint64_t tokens = 0;
  for (std::uint64_t index = 0; index < batches; ++index) {
    Tape tape;
    tape.recording = false;
    const Task::Evaluation part = task.validate(tape, index, batch);
    total += part.loss * double(part.tokens);
    tokens += part.tokens;
    if (should_stop()) return std::nullopt;
  }
  return total / double(tokens);
}

}  // namespace bochner::inline BOCHNER_PRECISION
