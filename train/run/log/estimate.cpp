#include <fmt/format.h>

#include <bochner/base/format.hpp>
#include <bochner/base/pool.hpp>
#include <bochner/base/text.hpp>
#include <bochner/train/run/log/estimate.hpp>
#include <bochner/train/run/session.hpp>

namespace bochner {
namespace {

constexpr double step_in_passes = 3;       // forward, backward by inputs and by weights
constexpr double longest_to_repeat = 0.5;  // seconds: the first pass compiles and allocates

/// Measures the seconds of a forward pass that keeps what backward would need.
double time_forward(Session& session) {
  const auto start = std::chrono::steady_clock::now();
  Tape tape;
  tape.seed = session.state().seed;
  const std::uint64_t first = session.spec().overfit ? 0 : session.state().examples;
  session.task().loss(tape, session.task().data().training(first, session.spec().batch));
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Returns the number of validation batches in all remaining steps.
double validation_batches(Session& session, std::uint64_t steps) {
  const TrainSpec& spec = session.spec();
  if (spec.validate_every.off()) return 0;
  const std::uint64_t taken = batches_taken(session.task().data(), Split::validation,
                                            spec.validation_batch(), spec.validate_batches)
                                  .count;
  return double(taken) * double(steps) / double(session.steps(spec.validate_every));
}

}  // namespace

TrainingEstimate estimate_training(Session& session) {
  const TrainSpec& spec = session.spec();
  const std::uint64_t done = session.state().step, all = session.total_steps();
  tensor_pool::reset_peak();
  double pass = time_forward(session);
  if (pass < longest_to_repeat) pass = time_forward(session);
  const std::size_t gradients = count_parameters(session.task().model()) * sizeof(real);
  TrainingEstimate estimate{tensor_pool::statistics().peak_bytes_in_use + gradients,
                            all - std::min(done, all)};
  const double validating = validation_batches(session, estimate.steps) *
                            double(spec.validation_batch()) / double(spec.batch);
  estimate.seconds =
      pass * (step_in_passes * double(estimate.steps * spec.accumulate) + validating);
  return estimate;
}

std::string words_of(const TrainingEstimate& estimate) {
  return fmt::format("about {} of memory, {} for {}", format_bytes(double(estimate.bytes)),
                     format_duration(estimate.seconds), format_number_of(estimate.steps, "step"));
}

}  // namespace bochner
