#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/text.hpp>
#include <bochner/data/files/glob.hpp>
#include <bochner/data/text/encoded_text.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/arrays.hpp>
#include <bochner/train/tasks/config_templates/templates.hpp>
#include <bochner/train/tasks/encoding_pictures.hpp>
#include <bochner/train/tasks/init_from_data.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/specimens.hpp>
#include <bochner/train/tasks/stack_checks.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <bochner/train/tasks/text/byte_counts.hpp>
#include <bochner/train/tasks/text/text_facts.hpp>
#include <bochner/train/tasks/text/tokenizers.hpp>
#include <limits>
#include <numbers>

namespace bochner {
namespace {

LanguageModelSpec spec_of(const Config& config, std::size_t length, const Tokenizer& tokenizer) {
  LanguageModelSpec spec = trunk_spec(config, length);
  if (has_words(config)) spec.vocabulary = tokenizer.vocabulary();
  return spec;
}

/// Predicts the next token. Throws DataError if the model was trained with another tokenizer than
/// that of the config.
class LanguageLearner : public Learner, public WritesText, public HasSpecimens {
 public:
  LanguageLearner(const Config& config, TextFacts facts)
      : LanguageLearner(config, facts, tokenizer_of(config, facts.tokenizer)) {}
  LanguageLearner(const Config& config, TextFacts facts, std::shared_ptr<const Tokenizer> tokenizer)
      : facts_(std::move(facts)),
        writes_(config.text("data.kind") == "bytes"),
        tokenizer_(std::move(tokenizer)),
        spec_(spec_of(config, facts_.length, *tokenizer_)),
        positions_(counts_positions(config) ? spec_.block.mixer.features.length
                                            : std::numeric_limits<std::size_t>::max()),
        model_(spec_) {
    initialize(model_, config.count("train.seed"));
  }

  LanguageModel& model() override { return model_; }
  std::string describe() const override {
    return "lm, " + describe_stack(spec_) + ", positions " + spec_.positions;
  }
  std::string facts() const override { return encode_facts(facts_); }
  Json sizes() const override { return Json{{"length", spec_.length}}; }
  void illustrate(Page& page) override { add_encoding(page, model_, grid_of(spec_.places)); }
  std::uint64_t tokenizer_digest() const override { return facts_.tokenizer; }
  LearnerAbilities abilities() override {
    return {.writes = writes_ ? this : nullptr, .specimens = this};
  }

  LanguageModel& language_model() override { return model_; }
  const Tokenizer& tokenizer() const override { return *tokenizer_; }
  std::size_t window() const override { return facts_.length; }
  std::size_t positions() const override { return positions_; }
  bool carries_context() const override {
    return bochner::carries_context(spec_) &&
           std::min(positions_, model_.position_limit()) == std::numeric_limits<std::size_t>::max();
  }

  std::size_t specimens() const override { return facts_.specimens.size(); }
  void forward_specimen(Tape& tape, std::size_t i) override {
    const Batch& one = facts_.specimens[i];
    model_.loss(tape, one.inputs, one.targets);
  }

  const LanguageModelSpec& spec() const { return spec_; }

 private:
  TextFacts facts_;
  bool writes_;  // whether tokens are text
  std::shared_ptr<const Tokenizer> tokenizer_;
  LanguageModelSpec spec_;
  std::size_t positions_;
  LanguageModel model_;
};

TextFacts facts_of(const Config& config, const TokenSource& data, const KnownFacts& known,
                   const Tokenizer& tokenizer) {
  if (known.are_exact()) return known.of<TextFacts>();
  return {.length = config.count("data.length"),
          .tokenizer = tokenizer.digest(),
          .specimens = take_specimens(data, data.tokens_per_example())};
}

/// Trains a model that predicts the next token.
class LanguageTask : public Task {
 public:
  LanguageTask(const Config& config, std::unique_ptr<TokenSource> data, const KnownFacts& known,
               std::shared_ptr<const Tokenizer> tokenizer)
      : data_(std::move(data)),
        learner_(config, facts_of(config, *data_, known, *tokenizer), tokenizer) {}

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

  Verdict verdict(const HeldOut& held) override {
    if (held.taken(data()).count == 0) return {};
    std::array<std::uint64_t, 256> counts{};
    std::uint64_t bytes = 0;
    std::vector<std::pair<std::string, std::size_t>> texts = decoded(held);
    for (const auto& [text, first] : texts)
      for (const char c : text.substr(first)) ++counts[std::uint8_t(c)], ++bytes;
    const Evaluation result = held.evaluate(*this);
    Verdict verdict{"bits per byte",
                    format_number_of(bytes, "held-out byte"),
                    result.mean(result.measures[0]),
                    {{"byte frequencies", entropy_of_bytes(counts)}}};
    if (held.split == Split::train) return verdict;  // all of the data, so there are none to count
    const ByteCounts naive = counts_of_training();
    double bits = 0;
    for (const auto& [text, first] : texts) bits += naive.bits(text, first);
    verdict.naive.push_back({"counts after two bytes", bits / double(bytes)});
    return verdict;
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

  /// Returns the text of each window, and the number of its bytes that are input only.
  std::vector<std::pair<std::string, std::size_t>> decoded(const HeldOut& held) const {
    std::vector<std::pair<std::string, std::size_t>> texts;
    const TakenBatches taken = held.taken(data());
    for (std::uint64_t k = 0; k < taken.count; ++k) {
      const Batch batch = data_->batch(data().part(held.split, taken.index(k), held.batch));
      const std::size_t T = batch.inputs.shape[1];
      for (std::size_t row = 0; row < batch.inputs.shape[0]; ++row) {
        std::vector<std::int32_t> tokens = {batch.inputs.values[row * T]};
        const std::size_t first = decode(learner_.tokenizer(), tokens).size();
        const auto targets = batch.targets.values.begin() + std::ptrdiff_t(row * T);
        tokens.insert(tokens.end(), targets, targets + std::ptrdiff_t(T));
        texts.emplace_back(decode(learner_.tokenizer(), tokens), first);
      }
    }
    return texts;
  }

  /// Counts bytes of training windows, evenly spread.
  ByteCounts counts_of_training() const {
    constexpr std::uint64_t most_bytes = 1 << 22, batch = 16;
    const std::uint64_t windows = most_bytes / (batch * data().tokens_per_example());
    ByteCounts counts;
    for (const auto& [text, first] :
         decoded({Split::train, batch, std::max<std::uint64_t>(1, windows)}))
      counts.add(text);
    return counts;
  }

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
  Verdict verdict(const HeldOut&) override { return {}; }  // its tokens are no text
};

std::unique_ptr<Task> open_language_task(const Config& config, const KnownFacts& known) {
  const auto data = read_spec<DataSpec>(config, "data");
  ByteCorpus corpus(data_files(config));
  const std::uint64_t digest = known.are_exact() ? known.of<TextFacts>().tokenizer : 0;
  const auto tokenizer = tokenizer_of(config, digest);
  if (has_words(config)) {
    EncodedText tokens = encoded_text(config, corpus, *tokenizer);
    auto windows =
        std::make_unique<WordWindows>(std::move(corpus), std::move(tokens), tokenizer, data.length,
                                      data.validation, config.count("train.seed"));
    return std::make_unique<WordTask>(config, std::move(windows), known, tokenizer);
  }
  auto windows = std::make_unique<ByteWindows>(std::move(corpus), data.length, data.validation,
                                               config.count("train.seed"));
  return std::make_unique<LanguageTask>(config, std::move(windows), known, tokenizer);
}

std::unique_ptr<Task> open_token_task(const Config& config, const KnownFacts& known) {
  auto data = std::make_unique<TokenTasks>(token_task_spec(config), example_set(config));
  return std::make_unique<TokenTask>(config, std::move(data), known, make_byte_tokenizer());
}

void check_token_task(const Config& config) {
  const TokenTaskSpec spec = token_task_spec(config);
  const auto task = token_tasks().make(spec.kind, spec);
  const auto demand = [&](const char* key, std::size_t value, std::size_t smallest) {
    if (value < smallest)
      fail(config, key,
           fmt::format("must be at least {} for {} and {}", smallest,
                       assignment(config, "data.kind"), assignment(config, "data.items")),
           "data.kind");
  };
  demand("data.length", spec.length, task->smallest_length());
  demand("data.vocabulary", spec.vocabulary, task->smallest_vocabulary());
  if (spec.validation_length == 0) return;
  demand("data.validation_length", spec.validation_length, task->smallest_length());
  if (config.text("model.positions") == "learned")
    require_at_most(config, "data.validation_length", "data.length");
  const char* positions = "model.mixer.features.length";
  const std::size_t most = std::max(spec.length, config.count(positions));
  if (spec.validation_length > most && counts_positions(config))
    fail(config, "data.validation_length",
         fmt::format("must be at most {}, the positions of cosformer: train a new run with a "
                     "larger {}",
                     most, positions),
         positions);
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
)";

void add_text_kinds(TaskKinds& kinds) {
  const auto learn = learn_as<LanguageLearner, assumed_text_facts>;
  ModelRows{kinds, "lm", open_language_task, learn}("bytes", validation_fraction);
  for (const std::string& name : token_tasks().names())
    ModelRows{kinds, "lm", open_token_task, learn}(name, validation_examples, check_token_task);
}

}  // namespace bochner
