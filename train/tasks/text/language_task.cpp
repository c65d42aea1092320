#include <fmt/format.h>

#include <bochner/data/files/glob.hpp>
#include <bochner/data/text/word_windows.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/arrays.hpp>
#include <bochner/train/tasks/encoding_pictures.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <bochner/train/tasks/text/noise_counts.hpp>
#include <bochner/train/tasks/text/tokenizers.hpp>
#include <numbers>

namespace bochner {
namespace {

/// Prediction of the next token of sequences.
class LanguageTask : public Task {
 public:
  LanguageTask(const Config& config, std::unique_ptr<TokenSource> data)
      : spec_(trunk_spec(config, config.count("data.length"))),
        data_(std::move(data)),
        model_(make_language_model(spec_, config.count("train.seed"))) {}

  Module& model() override { return *model_; }
  const Dataset& data() const override { return *data_; }
  std::string describe_model() const override {
    return "lm, " + describe_stack(spec_) + ", positions " + spec_.positions;
  }

  void start() override {
    if (NoiseLoss* noise = model_->noise())
      count_targets(*noise, *data_, spec_.vocabulary,
                    [&](const Examples& examples) { return data_->batch(examples).targets; });
  }

  void illustrate(Page& page) override { add_encoding(page, *model_, grid_of(spec_.places)); }

  Var loss(Tape& tape, const Examples& examples) override {
    const Batch batch = data_->batch(examples);
    return model_->loss(tape, batch.inputs, batch.targets);
  }

  Evaluation evaluate(Tape& tape, const Examples& examples) override {
    const Batch batch = data_->batch(examples);
    const Var loss = model_->loss(tape, batch.inputs, batch.targets);
    const std::uint64_t tokens = batch.targets.values.size();
    const double nats = double(loss.value().data()[0]) * double(tokens);
    return {nats, tokens, "nats", {measure_in_bits(nats / std::numbers::ln2, batch.targets)}};
  }

  NamedArrays arrays(const Examples& examples) override {
    const Batch batch = data_->batch(examples);
    Tape tape({.recording = false});
    return {{"tokens", array_of(batch.inputs)},
            {"targets", array_of(batch.targets)},
            {"outputs", array_of(model_->logits(tape, batch.inputs).value())}};
  }
  Json sizes() const override { return Json{{"length", spec_.length}}; }

 protected:
  virtual Measure measure_in_bits(double bits, const Indices&) const {
    return {"bits_per_token", "bits/byte", bits};
  }

  LanguageModelSpec spec_;
  std::unique_ptr<TokenSource> data_;
  std::unique_ptr<LanguageModel> model_;
};

/// Tokens are pieces of words, so that only bits per byte tell how good models of other tokens are.
class WordTask : public LanguageTask {
 public:
  WordTask(const Config& config, std::unique_ptr<TextWindows> data)
      : LanguageTask(config, nullptr), text_(*data) {
    data_ = std::move(data);
  }

 protected:
  Measure measure_in_bits(double bits, const Indices& targets) const override {
    return {"bits_per_byte", "bits/byte", bits, false, text_.bytes_of(targets)};
  }

 private:
  const TextWindows& text_;
};

/// A language model that answers the questions of generated sequences.
class TokenTask : public LanguageTask {
 public:
  using LanguageTask::LanguageTask;

  Evaluation evaluate(Tape& tape, const Examples& examples) override {
    const Batch batch = data_->batch(examples);
    Evaluation result = evaluate_answers(model_->logits(tape, batch.inputs), batch.targets);
    if (const std::size_t T = batch.inputs.shape[1]; T != spec_.length)
      result.measures[0].unit = fmt::format("right at {} tokens", T);
    return result;
  }
};

}  // namespace

std::unique_ptr<Task> make_language_task(const Config& config) {
  const auto data = read_spec<DataSpec>(config, "data");
  ByteCorpus corpus(expand_files(data.files, std::filesystem::current_path()));
  if (has_words(config)) {
    const auto tokenizer = tokenizer_of(config);
    EncodedText tokens = encoded_text(config, corpus, *tokenizer);
    return std::make_unique<WordTask>(
        config,
        std::make_unique<WordWindows>(std::move(corpus), std::move(tokens), tokenizer, data.length,
                                      data.validation, config.count("train.seed")));
  }
  return std::make_unique<LanguageTask>(
      config, std::make_unique<ByteWindows>(std::move(corpus), data.length, data.validation,
                                            config.count("train.seed")));
}

std::unique_ptr<Module> stand_in_for_bytes(const Config& config) {
  return make_language_model(trunk_spec(config, config.count("data.length")), 1);
}

std::unique_ptr<Task> make_token_task(const Config& config) {
  return std::make_unique<TokenTask>(
      config, std::make_unique<TokenTasks>(token_task_spec(config), example_set(config)));
}

}  // namespace bochner
