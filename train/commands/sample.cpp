#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/commands/loaded_run.hpp>
#include <bochner/train/run/model_weights.hpp>
#include <bochner/train/run/sampling.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/stack_checks.hpp>
#include <cstdio>
#include <limits>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct SampleOptions {
  std::string run, prompt = "\n";
  std::uint64_t bytes = 300, seed = 1;
  SamplingOptions sampling;
  bool live_weights = false;
};

/// Feeds a text to a model token by token. Behind `limit` positions, those that it was trained on
/// or can tell apart, it starts again on the last half of them.
class TextStream {
 public:
  TextStream(LanguageModel& model, std::size_t limit)
      : model_(model), limit_(limit), state_(model.start()) {}

  void feed(std::int32_t token) {
    if (state_.position == limit_) restart();
    if (limit_ != std::numeric_limits<std::size_t>::max()) recent_.push_back(token);
    logits_ = model_.step(token, state_);
  }
  const Tensor& logits() const { return logits_; }

 private:
  void restart() {
    recent_.erase(recent_.begin(), recent_.end() - std::ptrdiff_t((recent_.size() + 1) / 2));
    state_ = model_.start();
    for (const std::int32_t token : recent_) logits_ = model_.step(token, state_);
  }
  LanguageModel& model_;
  std::size_t limit_;
  LanguageModel::State state_;
  std::vector<std::int32_t> recent_;
  Tensor logits_;
};

void sample_command(const SampleOptions& options) {
  check_sampling(options.sampling);
  const auto [checkpoint, config] = load_run(options.run);
  const std::string& kind = config.text("data.kind");
  demand(
      kind == "bytes",
      "{}: data.kind = \"{}\": only models of bytes write text; bochner eval tells how good this "
      "one is",
      options.run, kind);
  demand(!options.prompt.empty(), "--prompt: must hold at least one byte");
  const TrunkSpec spec = trunk_spec(config, config.count("data.length"));
  const auto model = make_language_model(spec, config.count("train.seed"));
  load_model(checkpoint, *model, !options.live_weights);
  std::size_t limit = model->position_limit();
  if (counts_positions(config)) limit = std::min(limit, spec.block.mixer.features.length);
  TextStream stream(*model, limit);
  for (const char byte : options.prompt) stream.feed(static_cast<unsigned char>(byte));
  fmt::print("{}", options.prompt);
  const RandomFunction random{options.seed, Purpose::sampling, 0};
  for (std::uint64_t i = 0; i < options.bytes; ++i) {
    const std::int32_t token = sample_token(stream.logits(), options.sampling, random.uniform(i));
    std::putchar(token);
    std::fflush(stdout);
    if (i + 1 < options.bytes) stream.feed(token);
  }
  std::putchar('\n');
}

}  // namespace

void add_sample(const Command& program) {
  const auto [command, options] = program.command("sample", "continue a prompt", sample_command);
  add_run(command, options.run);
  command.option("--prompt", &options.prompt, "text to continue (default: a line end)", "TEXT");
  command.number("--bytes", &options.bytes, "how many bytes to add");
  SamplingOptions& sampling = options.sampling;
  command.number("--temperature", &sampling.temperature,
                 "below 1 is more cautious, 0 takes the most probable byte");
  command.number("--top-k", &sampling.top_k, "only the N most probable bytes, 0 for all");
  command.number("--top-p", &sampling.top_p, "only the most probable bytes that together reach N");
  command.number("--seed", &options.seed, "seed of the random numbers");
  add_weights(command, options.live_weights);
}

}  // namespace bochner::inline BOCHNER_PRECISION
