#include <bochner/optim/clip.hpp>
#include <bochner/optim/optimizer.hpp>
#include <bochner/optim/schedule.hpp>
#include <bochner/train/laboratory/descent.hpp>

namespace bochner::inline BOCHNER_PRECISION {

std::vector<double> descend(const std::vector<NamedParameter>& parameters, const Descent& descent,
                            const std::function<Var(Tape& tape, std::uint64_t step)>& loss) {
  if (parameters.empty()) return {};
  const auto optimizer =
      make_optimizer({.kind = "adam", .beta2 = 0.99, .weight_decay = 0}, parameters);
  std::vector<double> losses;
  for (std::uint64_t step = 0; step < descent.steps; ++step) {
    optimizer->zero_gradients();
    Tape tape;
    const Var value = loss(tape, step);
    losses.push_back(double(value.value().data()[0]));
    tape.backward(value);
    clip_by_norm(parameters, 1.0);
    optimizer->step(learning_rate({.kind = ScheduleKind::cosine, .warmup = descent.warmup},
                                  descent.learning_rate, step, descent.steps));
  }
  return losses;
}

}  // namespace bochner::inline BOCHNER_PRECISION
