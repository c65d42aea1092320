#include <fmt/format.h>

#include <bochner/data/files/glob.hpp>
#include <bochner/data/text/encoded_text.hpp>
#include <bochner/train/tasks/arrays.hpp>
#include <bochner/train/tasks/config_templates/templates.hpp>
#include <bochner/train/tasks/specimens.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <bochner/train/tasks/text/generated_checks.hpp>
#include <bochner/train/tasks/text/language_learner.hpp>
#include <bochner/train/tasks/text/noise_counts.hpp>
#include <bochner/train/tasks/text/tokenizers.hpp>
#include <numbers>

namespace bochner {
namespace {

TextFacts facts_of(const Config& config, const TokenSource& data, const KnownFacts& known) {
  if (known.are_exact()) return known.of<TextFacts>();
  return {.length = config.count("data.length"),
          .tokenizer = tokenizer_of(config)->digest(),
          .specimens = take_specimens(data, data.tokens_per_example())};
}

/// Trains a model that predicts the next token.
class LanguageTask : public Task {
 public:
  LanguageTask(const Config& config, std::unique_ptr<TokenSource> data, const KnownFacts& known)
      : data_(std::move(data)), learner_(config, facts_of(config, *data_, known)) {}

  Learner& learner() override { return learner_; }
  const Dataset& data() const override { return *data_; }

  void start() override {
    if (NoiseLoss* noise = language_model().noise())
      count_targets(*noise, *data_, learner_.spec().vocabulary,
                    [&](const Examples& examples) { return data_->batch(examples).targets; });
  }

  Var loss(Tape& tape, const Examples& examples) override {
    const Batch batch = data_->batch(examples);
    return language_model().loss(tape, batch.inputs, batch.targets);
  }

  Evaluation evaluate(Tape& tape, const Examples& examples) override {
    const Batch batch = data_->batch(examples);
    const Var loss = language_model().loss(tape, batch.inputs, batch.targets);
    const std::uint64_t tokens = batch.targets.values.size();
    const double nats = double(loss.value().data()[0]) * double(tokens);
    return {nats, tokens, "nats", {measure_in_bits(nats / std::numbers::ln2, batch.targets)}};
  }

  NamedArrays arrays(const Examples& examples) override {
    const Batch batch = data_->batch(examples);
    Tape tape({.recording = false});
    return {{"tokens", array_of(batch.inputs)},
            {"targets", array_of(batch.targets)},
            {"outputs", array_of(language_model().logits(tape, batch.inputs).value())}};
  }

 protected:
  virtual Measure measure_in_bits(double bits, const Indices&) const {
    return {"bits_per_token", "bits/byte", bits};
  }
  LanguageModel& language_model() { return learner_.language_model(); }

  std::unique_ptr<TokenSource> data_;
  LanguageLearner learner_;
};

/// Trains on pieces of words; bits per byte compare models with different tokenizers.
class WordTask : public LanguageTask {
 public:
  using LanguageTask::LanguageTask;

 protected:
  Measure measure_in_bits(double bits, const Indices& targets) const override {
    const auto& text = static_cast<const TextWindows&>(*data_);
    return {"bits_per_byte", "bits/byte", bits, false, text.bytes_of(targets)};
  }
};

/// Trains a model that answers the questions of generated sequences.
class TokenTask : public LanguageTask {
 public:
  using LanguageTask::LanguageTask;

  Evaluation evaluate(Tape& tape, const Examples& examples) override {
    const Batch batch = data_->batch(examples);
    Evaluation result =
        evaluate_answers(language_model().logits(tape, batch.inputs), batch.targets);
    if (const std::size_t T = batch.inputs.shape[1]; T != learner_.spec().length)
      result.measures[0].unit = fmt::format("right at {} tokens", T);
    return result;
  }
};

std::unique_ptr<Task> open_language_task(const Config& config, const KnownFacts& known) {
  const auto data = read_spec<DataSpec>(config, "data");
  ByteCorpus corpus(expand_files(data.files, std::filesystem::current_path()));
  if (has_words(config)) {
    const auto tokenizer = tokenizer_of(config);
    EncodedText tokens = encoded_text(config, corpus, *tokenizer);
    auto windows =
        std::make_unique<WordWindows>(std::move(corpus), std::move(tokens), tokenizer, data.length,
                                      data.validation, config.count("train.seed"));
    return std::make_unique<WordTask>(config, std::move(windows), known);
  }
  auto windows = std::make_unique<ByteWindows>(std::move(corpus), data.length, data.validation,
                                               config.count("train.seed"));
  return std::make_unique<LanguageTask>(config, std::move(windows), known);
}

std::unique_ptr<Task> open_token_task(const Config& config, const KnownFacts& known) {
  auto data = std::make_unique<TokenTasks>(token_task_spec(config), example_set(config));
  return std::make_unique<TokenTask>(config, std::move(data), known);
}

std::unique_ptr<Learner> language_learner(const Config& config, const KnownFacts& facts) {
  TextFacts known = facts.of<TextFacts>();
  if (facts.bytes.empty()) known.length = config.count("data.length");
  return std::make_unique<LanguageLearner>(config, std::move(known));
}

}  // namespace

const char lm_template[] = R"(# A language model of bytes, for any text.

[model]
kind = "lm"                   # predicts the next byte
blocks = 2
width = 64
positions = "none"            # the time kernel encodes the order

[model.mixer]
kind = "linear"               # attention in O(T); others: softmax, ssm, hyena, ...
heads = 4
features = "positive"         # phi: the feature map
m = 32                        # features
density = "gaussian"          # p(omega): the kernel, learned per head
time_kernel = "decay"         # times a learned factor exp(-lag / tau) per head
convolution = 4               # bytes, of queries, keys and values

[data]
kind = "bytes"
files = [{files}]
length = {length}                  # bytes of a window
validation = 0.1              # the last part of the bytes

[optim]
lr = 1e-2
schedule.kind = "cosine"
schedule.warmup = {warmup}
clip = 1.0

[train]
batch = 16
steps = {steps}
validate.every = {validate}
validate.batches = 50
)";

void add_text_kinds(TaskKinds& kinds) {
  kinds.push_back({.data = "bytes",
                   .model = "lm",
                   .open = open_language_task,
                   .learn = language_learner,
                   .validation = validation_fraction});
  for (const std::string& name : token_task_kinds())
    kinds.push_back({.data = name,
                     .model = "lm",
                     .open = open_token_task,
                     .learn = language_learner,
                     .validation = validation_examples,
                     .check = check_token_task});
}

}  // namespace bochner
