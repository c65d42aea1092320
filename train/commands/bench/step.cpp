#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/compute/parallel.hpp>
#include <bochner/data/files/digest.hpp>
#include <bochner/optim/optimizer.hpp>
#include <bochner/train/charts/format.hpp>
#include <bochner/train/commands/bench/measure.hpp>
#include <bochner/train/commands/bench/reference_models.hpp>
#include <bochner/train/commands/command_line.hpp>
#include <bochner/train/run/profile.hpp>
#include <bochner/train/run/version.hpp>
#include <bochner/train/storage/json.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::uint64_t warm_up_steps = 3;

struct BenchStepOptions {
  std::string model;
  std::size_t steps = 20, batch = 0;
  bool bits = false, json = false;
};

struct Measurement {
  std::size_t tokens, parameters;
  std::vector<double> milliseconds = {};  // ascending
  double operations = 0;                  // of the products of one step
  double memory = 0, peak = 0;
  OpProfile profile = {};
  double median() const { return milliseconds[milliseconds.size() / 2]; }
  double tokens_per_second() const { return double(tokens) / median() * 1e3; }
  double operations_per_second() const { return operations / median() * 1e3; }
};

/// A reference model that learns its batch.
class Training {
 public:
  Training(const ReferenceModel& reference, std::size_t batch)
      : problem(make_problem(reference, batch)),
        optimizer_(
            make_optimizer({.beta2 = 0.999, .weight_decay = 0}, parameters_of(*problem.model))) {}
  void step(OpProfile* profile = nullptr) {
    if (profile) profile->step_began();
    optimizer_->zero_gradients();
    Tape tape;
    tape.training = true;
    tape.observer = profile;
    tape.backward(problem.loss(tape));
    optimizer_->step(1e-3);
    if (profile) profile->recorded("optimizer", 0);
  }

  const ReferenceProblem problem;

 private:
  std::unique_ptr<Optimizer> optimizer_;
};

Measurement measure(const ReferenceModel& reference, const BenchStepOptions& options) {
  Training training(reference, options.batch);
  for (std::uint64_t step = 0; step < warm_up_steps; ++step) training.step();
  Measurement result{.tokens = training.problem.tokens,
                     .parameters = count_parameters(*training.problem.model)};
  const double operations = gemm_operations();
  for (std::uint64_t step = 0; step < options.steps; ++step)
    result.milliseconds.push_back(1e3 * seconds_of([&] { training.step(&result.profile); }));
  std::sort(result.milliseconds.begin(), result.milliseconds.end());
  result.operations = (gemm_operations() - operations) / double(options.steps);
  result.memory = peak_memory();
  result.peak = measure_peak(thread_count());
  return result;
}

std::string as_json(const std::string& name, const Measurement& result) {
  return Json{{"model", name},
              {"threads", thread_count()},
              {"params", result.parameters},
              {"step_ms", result.median()},
              {"min_ms", result.milliseconds.front()},
              {"tokens_per_s", std::round(result.tokens_per_second())},
              {"rss_mb", std::round(result.memory / (1 << 20))},
              {"gflop", result.operations / 1e9},
              {"peak_gflops", result.peak / 1e9},
              {"peak_share", result.operations_per_second() / result.peak},
              {"backend", backend_name()},
              {"profile", result.profile.json()}}
             .line() +
         "\n";
}

std::string as_text(const std::string& name, const Measurement& result) {
  return fmt::format(
      "{}   {} parameters, {} tokens a step, {}\n"
      "median {:.2f} ms, minimum {:.2f} ms, {} tok/s, peak memory {}\n"
      "{:.2f} GFLOP of products a step: {:.0f} GFLOP/s, {:.1f} % of the {:.0f} GFLOP/s that fused "
      "multiply-adds reach\n{}\n",
      name, result.parameters, result.tokens, format_number_of(thread_count(), "thread"),
      result.median(), result.milliseconds.front(), format_count(result.tokens_per_second()),
      format_bytes(result.memory), result.operations / 1e9, result.operations_per_second() / 1e9,
      100 * result.operations_per_second() / result.peak, result.peak / 1e9,
      result.profile.table(result.peak));
}

/// Of all parameters after these steps: equal for equal bits.
std::string digest_of_training(const ReferenceModel& reference, const BenchStepOptions& options) {
  Training training(reference, options.batch);
  for (std::uint64_t step = 0; step < options.steps; ++step) training.step();
  Digest digest;
  for (const NamedParameter& named : parameters_of(*training.problem.model)) {
    const Tensor& value = named.parameter->value();
    digest.update(value.data(), value.size() * sizeof(real));
  }
  return fmt::format("{}  {:016x}\n", reference.name, digest.value());
}

std::string report(const ReferenceModel& reference, const BenchStepOptions& options) {
  if (options.bits) return digest_of_training(reference, options);
  const Measurement result = measure(reference, options);
  return options.json ? as_json(reference.name, result) : as_text(reference.name, result);
}

/// Training steps of a reference model, or of "all", on random tokens.
void bench_step_command(const BenchStepOptions& options) {
  demand(options.steps > 0, "--steps 0: must be at least 1");
  if (!options.json && !options.bits) fmt::print("{}\n", version_line());
  for (const ReferenceModel& model : reference_models(options.model))
    fmt::print("{}", in_child([&] { return report(model, options); }));
}

}  // namespace

void add_bench_length(const Command& bench);

void add_bench(const Command& program) {
  const Command bench = program.group("bench", "measure speed");
  const auto [command, options] =
      bench.command("step", "training steps of a reference model", bench_step_command);
  command.option("model", &options.model, reference_model_names()).required();
  command.number("--steps", &options.steps, "steps to measure, after three that are not");
  command.number("--batch", &options.batch, "sequences a step (default: the model's own number)");
  command.flag("--bits", &options.bits, "only a digest of the parameters after these steps");
  command.flag("--json", &options.json, "print JSON lines");
  add_bench_length(bench);
}

}  // namespace bochner::inline BOCHNER_PRECISION
