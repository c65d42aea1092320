#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/numeric/product_precision.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/files/digest.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/optim/optimizer.hpp>
#include <bochner/train/commands/bench/encoding.hpp>
#include <bochner/train/commands/bench/measure.hpp>
#include <bochner/train/commands/bench/reference_models.hpp>
#include <bochner/train/run/instruments/statistics.hpp>
#include <bochner/train/run/log/profile.hpp>
#include <bochner/train/run/version.hpp>
#include <bochner/train/storage/output.hpp>
#include <optional>

namespace bochner {
namespace {

constexpr std::uint64_t warm_up_steps = 3;

struct BenchPassOptions {
  std::string model;
  std::size_t steps = 20, batch = 0;
  bool json = false;
};
struct BenchStepOptions : BenchPassOptions {
  bool bits = false, bfloat16 = false;
};

struct Measurement {
  std::size_t tokens, parameters;
  double median = 0, minimum = 0;  // milliseconds of a step
  double operations = 0;           // of the products of one step
  double memory = 0, peak = 0, triad = 0;
  OpProfile profile = {};
  double tokens_per_second() const { return double(tokens) / median * 1e3; }
  double operations_per_second() const { return operations / median * 1e3; }
};

/// Runs one training step, observed by `profile` if not null.
void train_step(Optimizer& optimizer, const std::function<Var(Tape&)>& loss,
                OpProfile* profile = nullptr) {
  if (profile) profile->step_began();
  optimizer.zero_gradients();
  Tape tape;
  tape.training = true;
  tape.observer = profile;
  tape.backward(loss(tape));
  optimizer.step(1e-3);
  if (profile) profile->recorded("optimizer", 0);
}

void forward_pass(const std::function<Var(Tape&)>& loss, OpProfile* profile) {
  if (profile) profile->step_began();
  Tape tape({.recording = false});
  tape.observer = profile;
  loss(tape);
}

using Step = std::function<void(OpProfile*)>;

Measurement measure(const ReferenceProblem& problem, const Step& make, std::size_t steps) {
  for (std::uint64_t step = 0; step < warm_up_steps; ++step) make(nullptr);
  Measurement result{.tokens = problem.tokens, .parameters = count_parameters(*problem.model)};
  const double operations = gemm_operations();
  std::vector<double> milliseconds(steps);
  for (double& time : milliseconds) time = 1e3 * seconds_of([&] { make(&result.profile); });
  result.median = median(milliseconds);
  result.minimum = *std::ranges::min_element(milliseconds);
  result.operations = (gemm_operations() - operations) / double(steps);
  result.memory = peak_memory();
  result.peak = measure_peak(thread_count());
  result.triad = measure_triad(thread_count());
  return result;
}

std::string as_json(const std::string& name, const Measurement& result) {
  return Json{{"model", name},
              {"threads", thread_count()},
              {"params", result.parameters},
              {"step_ms", result.median},
              {"min_ms", result.minimum},
              {"tokens_per_s", std::round(result.tokens_per_second())},
              {"rss_mb", std::round(result.memory / (1 << 20))},
              {"gflop", result.operations / 1e9},
              {"peak_gflops", result.peak / 1e9},
              {"peak_share", result.operations_per_second() / result.peak},
              {"triad_gbs", result.triad / 1e9},
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
      "multiply-adds reach; a triad in memory {:.0f} GB/s\n{}\n",
      name, result.parameters, result.tokens, format_number_of(thread_count(), "thread"),
      result.median, result.minimum, format_count(result.tokens_per_second()),
      format_bytes(result.memory), result.operations / 1e9, result.operations_per_second() / 1e9,
      100 * result.operations_per_second() / result.peak, result.peak / 1e9, result.triad / 1e9,
      result.profile.table(result.peak, result.triad));
}

std::string digest_of(Module& model) {
  Digest digest;
  for (const NamedParameter& named : parameters_of(model)) {
    const Tensor& value = named.parameter->value();
    digest.update(value.data(), value.size() * sizeof(real));
  }
  return fmt::format("{:016x}", digest.value());
}

std::string words_of(const ReferenceModel& reference, const Measurement& result, bool json) {
  return json ? as_json(reference.name, result) : as_text(reference.name, result);
}

std::string report(const ReferenceModel& reference, const BenchStepOptions& options) {
  const ProductPrecisionScope precision(options.bfloat16 ? ProductPrecision::bfloat16
                                                         : ProductPrecision::full);
  const ReferenceProblem problem = make_problem(reference, options.batch);
  const auto optimizer =
      make_optimizer({.beta2 = 0.999, .weight_decay = 0}, parameters_of(*problem.model));
  if (options.bits) {
    for (std::size_t step = 0; step < options.steps; ++step) train_step(*optimizer, problem.loss);
    return fmt::format("{}  {}\n", reference.name, digest_of(*problem.model));
  }
  const Step step = [&](OpProfile* profile) { train_step(*optimizer, problem.loss, profile); };
  return words_of(reference, measure(problem, step, options.steps), options.json);
}

/// Prints report(model) for a reference model, or each of "all", from a child process.
template <class Report>
void print_each(const char* command, const BenchPassOptions& options, bool with_version,
                const Report& report) {
  require_measurable("--steps", options.steps);
  if (options.batch > 0) require_measurable("--batch", options.batch);
  const auto models = reference_models(command, options.model, any_model);
  if (with_version) fmt::print("{}\n", version_line());
  for (const ReferenceModel& model : models)
    fmt::print("{}", in_child([&] { return report(model); }));
}

void bench_step_command(const BenchStepOptions& options) {
  demand(!options.bits || !options.json,
         "--json has no effect with --bits, which prints a digest; remove one");
  print_each("bench step", options, !options.json && !options.bits,
             [&](const ReferenceModel& model) { return report(model, options); });
}

void bench_predict_command(const BenchPassOptions& options) {
  print_each("bench predict", options, !options.json, [&](const ReferenceModel& model) {
    const ReferenceProblem problem = make_problem(model, options.batch);
    const Step pass = [&](OpProfile* profile) { forward_pass(problem.loss, profile); };
    return words_of(model, measure(problem, pass, options.steps), options.json);
  });
}

constexpr std::size_t width = 64, shortest = 256;
/// Tokens per batch of short sequences, more than caches hold.
constexpr std::size_t tokens_of_batch = 65536;

struct BenchLengthOptions {
  std::size_t longest = 1 << 20;
  double limit = 10;
  bool checkpoint = false, json = false;
};

MixerSpec mixer_spec(const std::string& kind) {
  MixerSpec spec;
  spec.kind = kind;
  spec.width = width;
  spec.heads = 4;
  spec.features.m = 32;
  return spec;
}

struct Cost {
  double nanoseconds;  ///< per token
  double memory;       ///< peak bytes
};

Cost measure_layer(const std::string& kind, std::size_t length) {
  const std::size_t batch = std::max<std::size_t>(1, tokens_of_batch / length);
  const auto mixer = mixers().make(kind, mixer_spec(kind));
  initialize(*mixer, 1);
  Parameter x{random_numbers({batch, length, width}, 1)};
  const double seconds = median_seconds([&] {
    for (const NamedParameter& named : parameters_of(*mixer)) named.parameter->zero_gradient();
    x.zero_gradient();
    Tape tape;
    const Var y = mixer->forward(tape, tape(x));
    tape.backward(y, filled(y.shape(), real(1)));
  });
  return {1e9 * seconds / double(batch * length), peak_memory()};
}

/// Measures a training step of a language model that recomputes its two blocks in the backward
/// pass.
Cost measure_checkpointed_step(std::size_t length) {
  LanguageModelSpec spec;
  spec.length = length;
  spec.blocks = 2;
  spec.positions = "none";
  spec.checkpoint = true;
  spec.block.width = width;
  spec.block.mixer = mixer_spec("linear");
  LanguageModel model(spec);
  initialize(model, 1);
  const auto optimizer = make_optimizer({}, parameters_of(model));
  const Indices tokens = random_indices({1, length}, spec.vocabulary, 1);
  const double seconds = median_seconds([&] {
    train_step(*optimizer, [&](Tape& tape) { return model.loss(tape, tokens, tokens); });
  });
  return {1e9 * seconds / double(length), peak_memory()};
}

Json json_of(const std::optional<Cost>& cost) {
  if (!cost) return {};
  return {{"ns_per_token", cost->nanoseconds}, {"peak_bytes", cost->memory}};
}

std::string text_of(const std::optional<Cost>& cost) {
  return cost ? fmt::format("{:>10.0f} {:>10}", cost->nanoseconds, format_bytes(cost->memory))
              : fmt::format("{:>10} {:>10}", "-", "-");
}

void print_row(std::size_t length, const Cost& linear, const std::optional<Cost>& softmax,
               bool json) {
  if (json)
    print_line({{"length", length},
                {"threads", thread_count()},
                {"linear", json_of(linear)},
                {"softmax", json_of(softmax)}});
  else
    fmt::print("{:>8} {} {}{}\n", length, text_of(linear), text_of(softmax),
               softmax ? fmt::format(" {:>8.2f}", softmax->nanoseconds / linear.nanoseconds) : "");
  flush_output();
}

void print_header() {
  fmt::print(
      "{} · {}\none causal attention layer, forward and backward: D {}, 4 heads, m 32; at least {} "
      "tokens a pass\n{:>8} {:>10} {:>10} {:>10} {:>10} {:>8}\n",
      version_line(), format_number_of(thread_count(), "thread"), width, tokens_of_batch, "T",
      "linear ns", "memory", "softmax ns", "memory", "ratio");
}

void bench_checkpointed_step(const BenchLengthOptions& options) {
  const Cost cost = numbers_in_child([&] { return measure_checkpointed_step(options.longest); });
  if (options.json) {
    print_line({{"length", options.longest},
                {"threads", thread_count()},
                {"checkpointed_step", json_of(cost)}});
  } else {
    fmt::print(
        "{} · {}\ntraining step with model.checkpoint: 2 blocks, D {}, linear, T {}\n{:.0f} ns a "
        "token, {:.2f} s a step, peak memory {}\n",
        version_line(), format_number_of(thread_count(), "thread"), width, options.longest,
        cost.nanoseconds, cost.nanoseconds * double(options.longest) / 1e9,
        format_bytes(cost.memory));
  }
}

void bench_length_command(const BenchLengthOptions& options) {
  demand(options.longest >= shortest, "--longest {}: must be at least {}", options.longest,
         shortest);
  demand(options.limit >= 0, "--limit {}: must be a number, at least 0", options.limit);
  if (options.checkpoint) return bench_checkpointed_step(options);
  if (!options.json) print_header();
  double softmax_seconds = 0;  // lower bound for the next pass
  std::size_t from = 0;        // length from which linear attention stays faster
  for (std::size_t length = shortest; length <= options.longest; length *= 2) {
    const Cost linear = numbers_in_child([&] { return measure_layer("linear", length); });
    std::optional<Cost> softmax;
    if (softmax_seconds <= options.limit) {
      softmax = numbers_in_child([&] { return measure_layer("softmax", length); });
      softmax_seconds = 2e-9 * softmax->nanoseconds * double(std::max(tokens_of_batch, 2 * length));
      const bool faster = linear.nanoseconds < softmax->nanoseconds;
      from = !faster ? 0 : from > 0 ? from : length;
    }
    print_row(length, linear, softmax, options.json);
  }
  if (!options.json)
    fmt::print("{}\n", from > 0 ? fmt::format("linear attention is faster from T = {}", from)
                                : "linear attention is not faster at the measured lengths");
}

void add_length(const Command& bench) {
  const auto [command, options] = bench.command(
      "length", "time linear and softmax attention over the length", bench_length_command);
  command.number("--longest", &options.longest,
                 "longest sequence; lengths are powers of two from 256");
  command.number("--limit", &options.limit,
                 "seconds per pass of softmax attention; longer passes are skipped");
  command.flag("--checkpoint", &options.checkpoint,
               "time a training step on the longest sequence with model.checkpoint instead");
  command.flag("--json", &options.json, "print JSON lines");
}

void add_pass(const Command& command, BenchPassOptions& options, const char* what) {
  command.option("model", &options.model, reference_model_names(any_model)).required();
  command.number("--steps", &options.steps,
                 fmt::format("{} to measure, after three warm-up ones", what));
  command.number("--batch", &options.batch, "sequences per batch (default: the model's)");
  command.flag("--json", &options.json, "print JSON lines");
}

}  // namespace

// In the files of these names.
void add_generate_bench(const Command& bench);
void add_process_bench(const Command& bench);
void add_rate_bench(const Command& bench);
void add_scale_bench(const Command& bench);

void add_bench(const Command& program) {
  const Command bench = program.group("bench", "measure speed, and find a learning rate");
  bench.memory_advice("out of memory; lower the measured sizes, listed by bench COMMAND --help");
  const auto [command, options] =
      bench.command("step", "time training steps of a reference model", bench_step_command);
  add_pass(command, options, "steps");
  command.flag("--bfloat16", &options.bfloat16,
               "round factors of products to bfloat16, as train.precision does");
  command.flag("--bits", &options.bits, "print only a digest of the parameters after these steps");
  const auto [predict, passes] = bench.command(
      "predict", "time forward passes of a reference model, as in evaluation and prediction",
      bench_predict_command);
  add_pass(predict, passes, "passes");
  add_length(bench);
  add_generate_bench(bench);
  add_scale_bench(bench);
  add_encoding_bench(bench);
  add_process_bench(bench);
  add_rate_bench(bench);
}

}  // namespace bochner
