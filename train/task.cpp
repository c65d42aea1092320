#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/classifier_task.hpp>
#include <bochner/train/language_task.hpp>
#include <bochner/train/token_task.hpp>
#include <numbers>

namespace bochner::inline BOCHNER_PRECISION {

Evaluation& Evaluation::operator+=(const Evaluation& part) {
  loss_sum += part.loss_sum;
  tokens += part.tokens;
  if (part.correct) correct = correct.value_or(0) + *part.correct;
  return *this;
}

std::string Evaluation::words() const {
  if (correct)
    return fmt::format("{:.4f} nats   {:.2f} % right", loss(),
                       100 * double(*correct) / double(tokens));
  return fmt::format("{:.4f} nats   {:.4f} bits/byte", loss(), loss() / std::numbers::ln2);
}

std::string Evaluation::json() const {
  if (correct)
    return fmt::format(R"("valid":{},"accuracy":{})", loss(), double(*correct) / double(tokens));
  return fmt::format(R"("valid":{},"bits_per_token":{})", loss(), loss() / std::numbers::ln2);
}

std::optional<Evaluation> validate_task(Task& task, std::size_t batch, std::uint64_t limit,
                                        const std::function<bool()>& should_stop) {
  std::uint64_t batches = task.validation_batches(batch);
  require(batches > 0, "validation",
          "there is no validation data; set data.validation or data.validation_examples above 0");
  if (limit > 0) batches = std::min(batches, limit);
  Evaluation total;
  for (std::uint64_t index = 0; index < batches; ++index) {
    Tape tape;
    tape.recording = false;
    total += task.validate(tape, index, batch);
    if (should_stop()) return std::nullopt;
  }
  return total;
}

std::unique_ptr<Task> make_task(const Config& config) {
  if (config.text("model.kind") == "classifier") return std::make_unique<ClassifierTask>(config);
  if (config.text("data.kind") == "bytes") return std::make_unique<LanguageTask>(config);
  return std::make_unique<TokenTask>(config);
}

}  // namespace bochner::inline BOCHNER_PRECISION
