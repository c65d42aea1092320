#include <fmt/format.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/files/regular_file.hpp>
#include <bochner/train/commands/loaded_run.hpp>
#include <bochner/train/run/sampling.hpp>
#include <bochner/train/storage/output.hpp>
#include <bochner/train/tasks/learner.hpp>
#include <cmath>
#include <cstdio>

namespace bochner {
namespace {

struct SampleOptions {
  std::string run, prompt = "\n", prompts;
  std::uint64_t count = 1;
  ContinuationOptions continuation;
  bool live_weights = false, json = false;
  std::string output = "-";
};

/// Texts continued at once: their tokens are rows of the same matrix products.
constexpr std::size_t most_at_once = 64;
constexpr std::size_t most_of_prompt = 1 << 20;
/// Draws of a prior, made in one array.
constexpr std::size_t most_of_prior = 1 << 16;

/// Returns --prompt, or the lines of --prompts ("-" for standard input).
std::vector<std::string> prompts_of(const SampleOptions& options) {
  if (options.prompts.empty()) {
    demand(!options.prompt.empty(), "--prompt: must hold at least one byte");
    return {options.prompt};
  }
  refuse_pipe(options.prompts);
  const Input input(options.prompts);
  std::vector<std::string> prompts;
  std::string_view rest = input.text();
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    if (line.empty())
      throw DataError(input.name(), ":", prompts.size() + 1,
                      ": a prompt must hold at least one byte");
    prompts.emplace_back(line);
  }
  if (prompts.empty()) throw DataError(input.name(), ": holds no prompt");
  return prompts;
}

/// Prints each token as soon as it is drawn.
void write_one(WritesText& writer, const std::string& prompt, const ContinuationOptions& options) {
  static_cast<void>(writer.language_model().start());  // may have no steps
  fmt::print("{}", prompt);
  const auto print = [](std::size_t, std::string_view bytes) {
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    flush_output();
  };
  continue_texts(writer.language_model(), writer.tokenizer(), {&prompt, 1}, 0, options, print);
  std::putchar('\n');
}

/// Prints texts under numbered lines, or as JSON lines.
void write_all(WritesText& writer, const std::vector<std::string>& prompts, bool json,
               const ContinuationOptions& options) {
  for (std::size_t first = 0; first < prompts.size(); first += most_at_once) {
    const auto now =
        std::span(prompts).subspan(first).first(std::min(most_at_once, prompts.size() - first));
    std::vector<std::string> texts(now.size());
    continue_texts(writer.language_model(), writer.tokenizer(), now, first, options,
                   [&](std::size_t b, std::string_view bytes) { texts[b] += bytes; });
    for (std::size_t b = 0; b < now.size(); ++b)
      if (json)
        print_line({{"prompt", now[b]}, {"text", texts[b]}});
      else
        fmt::print("== {}/{}\n{}{}\n", first + b + 1, prompts.size(), now[b], texts[b]);
    flush_output();
  }
}

void sample_prior(const SampleOptions& options, const LoadedRun& run) {
  demand(options.prompts.empty() && options.prompt == SampleOptions().prompt && !options.json,
         "--prompt, --prompts and --json apply to language models, not to {}",
         run.config.text("model.kind"));
  const ContinuationOptions usual;
  demand(
      options.continuation.sampling == usual.sampling && options.continuation.bytes == usual.bytes,
      "--temperature, --top-k, --top-p and --bytes apply to language models, not to {}",
      run.config.text("model.kind"));
  demand(options.count <= most_of_prior, "--count {}: must be at most {}", options.count,
         most_of_prior);
  const auto learner = load_learner(run, {.live_weights = options.live_weights});
  NamedArray samples =
      learner->abilities().latent->sample(options.count, options.continuation.seed);
  make_table_for(options.output, samples);
  write_array(options.output, samples);
}

void check_options(const SampleOptions& options) {
  const auto& [temperature, top_k, top_p] = options.continuation.sampling;
  demand(std::isfinite(temperature), "--temperature {}: must be a finite number, at least 0",
         temperature);
  demand(top_p > 0 && top_p <= 1, "--top-p {}: must be greater than 0 and at most 1", top_p);
  demand(options.count > 0 && options.count <= most_of_prompt,
         "--count {}: must be between 1 and {}", options.count, most_of_prompt);
  demand(options.prompts.empty() || options.prompt == SampleOptions().prompt,
         "--prompt and --prompts exclude each other; give one");
}

void sample_command(const SampleOptions& options) {
  check_options(options);
  const LoadedRun run = load_run(options.run);
  const Config& config = run.config;
  const std::string& kind = config.text("data.kind");
  if (config.text("model.kind") == "vae") return sample_prior(options, run);
  demand(options.output == "-", "--output applies to a vae; other samples are printed");
  demand(kind == "bytes",
         "{}: data.kind = \"{}\": only models of bytes write text; use bochner eval or predict",
         options.run, kind);
  std::vector<std::string> prompts;
  for (const std::string& prompt : prompts_of(options))
    prompts.insert(prompts.end(), options.count, prompt);
  const auto learner = load_learner(run, {.live_weights = options.live_weights});
  WritesText& writer = *learner->abilities().writes;
  ContinuationOptions continuation = options.continuation;
  continuation.positions = writer.positions();
  if (prompts.size() == 1 && !options.json) return write_one(writer, prompts[0], continuation);
  write_all(writer, prompts, options.json, continuation);
}

}  // namespace

void add_sample(const Command& program) {
  const auto [command, options] = program.command(
      "sample", "continue a prompt, or draw from the prior of a vae", sample_command);
  command.memory_advice("out of memory; lower --count or --bytes, or give fewer prompts");
  add_run(command, options.run);
  command.option("--prompt", &options.prompt, "text to continue (default: a newline)", "TEXT");
  command.option("--prompts", &options.prompts,
                 "continue each line of a file, - for standard input", "FILE");
  command.number("--count", &options.count,
                 "texts to generate for each prompt, at once; vae: number of samples");
  command.option("--output,-o", &options.output, std::string("vae: ") + writable_names, "FILE")
      .shows_default();
  ContinuationOptions& continuation = options.continuation;
  command.number("--bytes", &continuation.bytes,
                 "bytes to add; with word pieces, ends with the piece that reaches them");
  SamplingOptions& sampling = continuation.sampling;
  command.number("--temperature", &sampling.temperature,
                 "softmax temperature; 0 takes the most probable token");
  command.number("--top-k", &sampling.top_k, "sample from the N most probable tokens, 0 for all");
  command.number("--top-p", &sampling.top_p,
                 "sample from the most probable tokens whose probabilities sum to N");
  command.number("--seed", &continuation.seed, "seed of the random numbers");
  command.flag("--json", &options.json, "print JSON lines");
  add_weights(command, options.live_weights);
}

}  // namespace bochner
