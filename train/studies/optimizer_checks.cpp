#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/ops.hpp>
#include <bochner/optim/optimizer.hpp>
#include <bochner/train/studies/optimizer_checks.hpp>
#include <cmath>

namespace bochner {
namespace {

constexpr double peak = 1e-2;

/// Two parameters with an optimizer, and gradients that are functions of the step.
struct Trained {
  Parameter matrix{Shape{6, 4}}, bias{Shape{4}};
  std::vector<NamedParameter> parameters{{"blocks.0.mixer.output.weight", &matrix},
                                         {"head.bias", &bias}};
  std::unique_ptr<Optimizer> optimizer;

  explicit Trained(const std::string& kind) {
    for (const auto& [name, parameter] : parameters)
      parameter->assign(numbers(0, name, parameter->shape()));
    OptimizerSpec spec;
    spec.kind = kind, spec.lr = peak, spec.temperature = 1e-4;
    optimizer = make_optimizer(spec, parameters);
  }
  void step(std::uint64_t number) {
    Tape tape;
    std::vector<Var> terms;
    for (const auto& [name, parameter] : parameters)
      terms.push_back(sum(tape(*parameter) * Var(numbers(number, name, parameter->shape()))));
    tape.backward(terms[0] + terms[1]);
    optimizer->step(peak);
    optimizer->zero_gradients();
  }
  /// Takes weights and state of another one.
  void restore(Trained& other) {
    for (std::size_t i = 0; i < parameters.size(); ++i)
      parameters[i].parameter->assign(Tensor(other.parameters[i].parameter->value()));
    const std::vector<NamedTensor> from = other.optimizer->state(), to = optimizer->state();
    for (std::size_t i = 0; i < to.size(); ++i) *to[i].tensor = *from[i].tensor;
  }
  bool operator==(const Trained& other) const {
    return std::ranges::equal(parameters, other.parameters, [](const auto& a, const auto& b) {
      return a.parameter->value() == b.parameter->value();
    });
  }
  bool is_finite() const {
    return std::ranges::all_of(parameters, [](const NamedParameter& named) {
      return std::ranges::all_of(named.parameter->value(), [](real x) { return std::isfinite(x); });
    });
  }

 private:
  static Tensor numbers(std::uint64_t step, const std::string& name, const Shape& shape) {
    const RandomFunction random{step, Purpose::test, stream_of(name.c_str())};
    Tensor x = uninitialized(shape);
    for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = real(random.normal(i));
    return x;
  }
};

}  // namespace

std::string optimizer_fault(const std::string& kind) {
  constexpr std::uint64_t half = 3;
  Trained whole(kind), first(kind), second(kind);
  for (std::uint64_t step = 1; step <= 2 * half; ++step) {
    whole.step(step);
    if (step <= half) first.step(step);
  }
  if (!whole.is_finite()) return "the weights are not finite";
  second.restore(first);
  for (std::uint64_t step = half + 1; step <= 2 * half; ++step) second.step(step);
  if (!(second == whole))
    return "a resumed run has other weights: memory between steps must be a moment that the "
           "constructor names";
  return "";
}

std::string schedule_fault(const std::string& kind) {
  constexpr std::uint64_t steps = 100;
  Schedule schedule;
  schedule.kind = kind, schedule.warmup = 10, schedule.decay = 20;
  const auto rate = [&](std::uint64_t step) { return learning_rate(schedule, peak, step, steps); };
  std::vector<double> rates;
  for (std::uint64_t step = 0; step <= steps; ++step) {
    rates.push_back(rate(step));
    if (!std::isfinite(rates.back()) || rates.back() < 0)
      return fmt::format("the rate of step {} of {} is {}", step, steps, rates.back());
  }
  for (std::uint64_t step = steps + 1; step-- > 0;)
    if (rate(step) != rates[step])
      return fmt::format("the rate of step {} differs when it is asked for again", step);
  return "";
}

}  // namespace bochner
