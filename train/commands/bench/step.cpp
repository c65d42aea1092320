#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/compute/parallel.hpp>
#include <bochner/data/files/digest.hpp>
#include <bochner/optim/optimizer.hpp>
#include <bochner/train/charts/format.hpp>
#include <bochner/train/commands/bench/child.hpp>
#include <bochner/train/commands/bench/peak.hpp>
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
  std::vector<double> milliseconds;  // ascending
  double operations;                 // of the products of one step
  double memory, peak;
  OpProfile profile;
  double median() const { return milliseconds[milliseconds.size() / 2]; }
  double tokens_per_second() const { return double(tokens) / median() * 1e3; }
  double operations_per_second() const { return operations / median() * 1e3; }
};

void train_step(ReferenceProblem& problem, Optimizer& optimizer, OpProfile* profile) {
  if (profile) profile->step_began();
  optimizer.zero_gradients();
  Tape tape;
  tape.training = true;
  tape.observer = profile;
  tape.backward(problem.loss(tape));
  optimizer.step(1e-3);
  if (profile) profile->recorded("optimizer", 0);
}

Measurement measure(const ReferenceModel& reference, const BenchStepOptions& options) {
  ReferenceProblem problem = make_problem(reference, options.batch);
  const auto optimizer =
      make_optimizer({.beta2 = 0.999, .weight_decay = 0}, parameters_of(*problem.model));
  for (std::uint64_t step = 0; step < warm_up_steps; ++step)
    train_step(problem, *optimizer, nullptr);
  Measurement result{problem.tokens, count_parameters(*problem.model), {}, 0, 0, 0, {}};
  const double operations = gemm_operations();
  for (std::uint64_t step = 0; step < options.steps; ++step) {
    const auto start = std::chrono::steady_clock::now();
    train_step(problem, *optimizer, &result.profile);
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start;
    result.milliseconds.push_back(elapsed.count());
  }
  std::sort(result.milliseconds.begin(), result.milliseconds.end());
  result.operations = (gemm_operations() - operations) / double(options.steps);
  result.memory = peak_memory();
  result.peak = measure_peak(thread_count());
  return result;
}

std::string as_json(const std::string& name, const Measurement& result) {
  const Json line = {{"model", name},
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
                     {"profile", result.profile.json()}};
  return line.line() + "\n";
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
  ReferenceProblem problem = make_problem(reference, options.batch);
  const auto optimizer =
      make_optimizer({.beta2 = 0.999, .weight_decay = 0}, parameters_of(*problem.model));
  for (std::uint64_t step = 0; step < options.steps; ++step)
    train_step(problem, *optimizer, nullptr);
  Digest digest;
  for (const NamedParameter& named : parameters_of(*problem.model)) {
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
  if (options.steps == 0) throw std::invalid_argument("--steps 0: must be at least 1");
  if (!options.json && !options.bits) fmt::print("{}\n", version_line());
  for (const ReferenceModel& model : reference_models()) {
    if (options.model != "all" && &reference_model(options.model) != &model) continue;
    fmt::print("{}", in_child([&] { return report(model, options); }));
  }
}

}  // namespace

void add_bench_step(const Command& bench) {
  const auto [command, options] =
      bench.command("step", "training steps of a reference model", bench_step_command);
  command.option("model", &options.model, reference_model_names()).required();
  command.number("--steps", &options.steps, "steps to measure, after three that are not");
  command.number("--batch", &options.batch, "sequences a step (default: the model's own number)");
  command.flag("--bits", &options.bits, "only a digest of the parameters after these steps");
  command.flag("--json", &options.json, "print JSON lines");
}

}  // namespace bochner::inline BOCHNER_PRECISION
