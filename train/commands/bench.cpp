#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/compute/parallel.hpp>
#include <bochner/layers/initialize.hpp>
#include <bochner/layers/models/language_model.hpp>
#include <bochner/optim/optimizer.hpp>
#include <bochner/train/commands.hpp>
#include <bochner/train/exit_codes.hpp>
#include <bochner/train/format.hpp>
#include <bochner/train/profile.hpp>
#include <bochner/train/run_metadata.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct ReferenceModel {
  const char *name, *mixer;
  std::size_t width, heads, m, blocks, expansion, vocabulary, length, batch;
};

/// The shapes at which this project measures itself.
constexpr ReferenceModel reference_models[] = {
    {"tiny-performer", "linear", 32, 2, 16, 2, 2, 64, 128, 4},
    {"performer-lm", "linear", 128, 4, 64, 2, 4, 256, 1024, 8},
    {"performer-lm-16k", "linear", 64, 4, 32, 2, 4, 256, 16384, 1},
    {"softmax-lm", "softmax", 128, 4, 64, 2, 4, 256, 1024, 8},
};

const ReferenceModel& find_model(const std::string& name) {
  std::string known;
  for (const ReferenceModel& model : reference_models) {
    if (name == model.name) return model;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", model.name);
  }
  throw std::invalid_argument(
      fmt::format("bench step {}: no such model; there are: {}", name, known));
}

LanguageModelSpec spec_of(const ReferenceModel& model) {
  LanguageModelSpec spec;
  spec.vocabulary = model.vocabulary;
  spec.length = model.length;
  spec.blocks = model.blocks;
  spec.block.width = model.width;
  spec.block.expansion = model.expansion;
  spec.block.mixer.kind = model.mixer;
  spec.block.mixer.heads = model.heads;
  spec.block.mixer.features.m = model.m;
  return spec;
}

Indices random_tokens(const ReferenceModel& model, std::uint64_t stream) {
  Indices tokens{{model.batch, model.length}, {}};
  const RandomFunction random{1, Purpose::test, stream};
  for (std::uint64_t i = 0; i < model.batch * model.length; ++i) {
    tokens.values.push_back(std::int32_t(random.integer(i, model.vocabulary)));
  }
  return tokens;
}

double peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_maxrss) * 1024;
}

struct Measurement {
  std::vector<double> milliseconds;  // ascending
  double operations;                 // of the products of one step
  OpProfile profile;
  double median() const { return milliseconds[milliseconds.size() / 2]; }
};

Measurement measure(const ReferenceModel& reference, std::uint64_t steps) {
  LanguageModel model(spec_of(reference));
  initialize(model, 1);
  const auto optimizer = make_optimizer({}, parameters_of(model));
  const Indices tokens = random_tokens(reference, 1), targets = random_tokens(reference, 2);
  Measurement result;
  for (std::uint64_t step = 0; step < steps + 3; ++step) {
    if (step == 3) result.profile.reset();
    const double operations = gemm_operations();
    const auto start = std::chrono::steady_clock::now();
    optimizer->zero_gradients();
    Tape tape;
    tape.training = true;
    tape.observer = &result.profile;
    tape.backward(model.loss(tape, tokens, targets));
    optimizer->step(1e-3);
    result.profile.recorded("optimizer");
    result.operations = gemm_operations() - operations;
    const auto elapsed = std::chrono::steady_clock::now() - start;
    if (step >= 3)
      result.milliseconds.push_back(std::chrono::duration<double, std::milli>(elapsed).count());
  }
  std::sort(result.milliseconds.begin(), result.milliseconds.end());
  return result;
}

}  // namespace

int bench_step_command(const std::string& name, const BenchOptions& options) {
  const ReferenceModel& model = find_model(name);
  if (options.steps == 0) throw std::invalid_argument("--steps 0: must be at least 1");
  const Measurement result = measure(model, options.steps);
  const double tokens = double(model.batch * model.length) / result.median() * 1e3;
  if (options.json) {
    fmt::print(
        R"({{"model":"{}","threads":{},"step_ms":{:.3f},"min_ms":{:.3f},"tokens_per_s":{:.0f},"rss_mb":{:.0f},)"
        R"("gflop":{:.3f}}})"
        "\n",
        name, thread_count(), result.median(), result.milliseconds.front(), tokens,
        peak_memory() / 1e6, result.operations / 1e9);
    return exit_done;
  }
  fmt::print(
      "{} · {} threads\n{}   median {:.2f} ms, minimum {:.2f} ms, {} tok/s, {:.1f} GFLOP/s, peak "
      "memory {}\n{}\n",
      version_line(), thread_count(), name, result.median(), result.milliseconds.front(),
      format_count(tokens), result.operations / result.median() / 1e6, format_bytes(peak_memory()),
      result.profile.table());
  return exit_done;
}

}  // namespace bochner::inline BOCHNER_PRECISION
