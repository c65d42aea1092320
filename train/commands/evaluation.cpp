#include <fmt/format.h>

#include <bochner/train/commands/commands.hpp>
#include <bochner/train/commands/exit_codes.hpp>
#include <bochner/train/commands/loaded_run.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/language_task.hpp>
#include <cstdio>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Feeds a text to a model token by token. Where trained positions end, it starts again on the last
/// half of them.
class TextStream {
 public:
  explicit TextStream(LanguageModel& model) : model_(model), state_(model.start()) {}

  void feed(std::int32_t token) {
    if (state_.position == model_.position_limit()) restart();
    if (model_.position_limit() != std::numeric_limits<std::size_t>::max())
      recent_.push_back(token);
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
  LanguageModel::State state_;
  std::vector<std::int32_t> recent_;
  Tensor logits_;
};

void require_bytes(const Config& config, const std::string& run) {
  const std::string& kind = config.text("data.kind");
  if (kind == "bytes") return;
  throw std::invalid_argument(
      fmt::format("{}: data.kind = \"{}\": only models of bytes write text; bochner eval tells how "
                  "good this one is",
                  run, kind));
}

/// What `--split` may say, and the name of the loss in JSON.
struct SplitName {
  Split split;
  const char *name, *loss;
};
constexpr SplitName split_names[] = {{Split::train, "train", "train"},
                                     {Split::validation, "validation", "valid"},
                                     {Split::test, "test", "test"}};

const SplitName& split_called(const std::string& name) {
  for (const SplitName& known : split_names)
    if (known.name == name) return known;
  throw std::invalid_argument("--split " + name + ": must be train, validation or test");
}

}  // namespace

int eval_command(const std::string& run, const EvaluationOptions& options) {
  const SplitName& split = split_called(options.split);
  PosixStorage storage;
  const auto [checkpoint, config] = load_run(storage, run, options.sets);
  const auto task = make_task(config);
  load_model(checkpoint, task->model(), options.averaged);
  const std::size_t batch = config.count("train.batch");
  const Evaluation result = *evaluate_task(*task, split.split, batch);
  if (options.json) {
    Json line = {{"step", checkpoint.state().step}};
    fmt::print("{}\n", line.set(result.json(split.loss)).line());
  } else {
    fmt::print("step {}   {}   {}\n", checkpoint.state().step, result.words(),
               task->data().words());
  }
  return exit_done;
}

int sample_command(const std::string& run, const SampleOptions& options) {
  check_sampling(options.sampling);
  PosixStorage storage;
  const auto [checkpoint, config] = load_run(storage, run);
  require_bytes(config, run);
  if (options.prompt.empty()) throw std::invalid_argument("--prompt: must hold at least one byte");
  const auto model = make_language_model(config);
  load_model(checkpoint, *model, options.averaged);
  TextStream stream(*model);
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
  return exit_done;
}

}  // namespace bochner::inline BOCHNER_PRECISION
