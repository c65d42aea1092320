#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/join.hpp>
#include <bochner/layers/models/contrast_model.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/train/tasks/arrays.hpp>
#include <bochner/train/tasks/config_templates/templates.hpp>
#include <bochner/train/tasks/contrast/contrast_format.hpp>
#include <bochner/train/tasks/contrast/embedding_pictures.hpp>
#include <bochner/train/tasks/events/event_data.hpp>
#include <bochner/train/tasks/learner.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/series/series_data.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <cmath>

namespace bochner {
namespace {

ContrastModelSpec contrast_spec(const Config& config, const ContrastFormat& format) {
  ContrastModelSpec spec;
  spec.encoder.trunk = read_spec<TrunkSpec>(config, "model");
  spec.contrast = read_spec<ContrastSpec>(config, "model.contrast");
  format.complete(spec);
  if (spec.examples == 0) spec.contrast.kind = "info_nce";  // prototypes have no parameters
  complete(spec.encoder.trunk.time.density, config);
  complete(spec.encoder.trunk, config, spec.encoder.trunk.length);
  return spec;
}

std::string words_of_tokens(const SequenceEncoderSpec& spec) {
  if (spec.values > 0)
    return fmt::format("{} tokens of {} numbers", spec.trunk.length, spec.values);
  return fmt::format("positions {}, time {}", spec.trunk.positions, describe_time(spec.trunk.time));
}

/// Embeds images, sequences of events, and windows of series.
class ContrastLearner : public Learner, public AnswersTables, public HasSpecimens {
 public:
  ContrastLearner(const Config& config, const KnownFacts& facts)
      : format_(make_contrast_format(config, facts)),
        model_(contrast_spec(config, *format_)),
        batch_(config.count("train.batch")) {
    initialize(model_, config.count("train.seed"));
  }

  ContrastModel& model() override { return model_; }
  std::string describe() const override {
    const ContrastModelSpec& spec = model_.spec();
    std::string kind = spec.contrast.kind;
    if (model_.spec().contrast.kind == "prototypes")
      kind += fmt::format("({})", joined(spec.contrast.clusters));
    return fmt::format("contrastive, {}, {}, temperature {}, {}", kind,
                       describe_stack(spec.encoder.trunk), spec.contrast.temperature,
                       words_of_tokens(spec.encoder));
  }
  std::string facts() const override { return format_->facts(); }
  std::vector<std::string> series() const override { return format_->series(); }
  LearnerAbilities abilities() override { return {.tables = this, .specimens = this}; }

  ReadOptions read_options() const override { return format_->read_options(); }
  std::vector<std::string> input_columns() const override { return format_->columns(); }
  /// Returns an embedding for each image, for each sequence of events in the order of their first
  /// rows, or for each window of a series, after a column with its last row.
  NamedArray predict(const NamedArray& question) override {
    const ContrastFormat::Asked asked = format_->read_table(model_, question);
    const std::size_t n = asked.examples.size(), D = width(), before = asked.rows.empty() ? 0 : 1;
    NamedArray result;
    result.values.resize({n, before + D});
    if (before > 0) result.columns.push_back("row");
    for (std::size_t j = 0; j < D; ++j) result.columns.push_back(fmt::format("e{}", j + 1));
    for (std::size_t i = 0; i < asked.rows.size(); ++i) result.values(i, 0) = double(asked.rows[i]);
    for (std::size_t first = 0; first < n; first += batch_) {
      const auto begin = asked.examples.begin() + std::ptrdiff_t(first);
      const std::vector<RawExample> part(begin,
                                         begin + std::ptrdiff_t(std::min(batch_, n - first)));
      Tape tape({.recording = false});
      const Var rows = model_.embed(tape, format_->encode(part));
      for (std::size_t i = 0; i < part.size(); ++i)
        std::copy_n(rows.data() + i * D, D, &result.values(first + i, before));
    }
    return result;
  }

  std::size_t specimens() const override { return format_->specimens(); }
  void forward_specimen(Tape& tape, std::size_t i) override {
    const EncoderInput input = format_->encode({format_->specimen(i, model_)});
    model_.project(tape, model_.embed(tape, input));
  }

  const ContrastFormat& format() const { return *format_; }
  /// Returns the dimension of embeddings.
  std::size_t width() const { return model_.spec().encoder.trunk.block.width; }

 private:
  std::unique_ptr<ContrastFormat> format_;
  ContrastModel model_;
  std::size_t batch_;
};

constexpr std::uint64_t most_embeddings = 65536;

/// Trains embeddings by contrasting two views of each example; labels are not used.
class ContrastTask : public Task, public PreparesSteps, public Embeds {
 public:
  ContrastTask(const Config& config, const KnownFacts& known)
      : source_(make_augmented_examples(config, known)),
        learner_(config, {source_->facts()}),
        model_(learner_.model()),
        seed_(config.count("train.seed")),
        batch_(config.count("train.batch")) {
    source_->fit(model_, seed_);
  }

  Learner& learner() override { return learner_; }
  const Dataset& data() const override { return source_->data(); }
  TaskAbilities abilities() override { return {.steps = this, .embeds = this}; }

  void before_step(std::uint64_t first_example) override {
    Prototypes* prototypes = model_.prototypes();
    const std::uint64_t n = data().examples(Split::train), epoch = first_example / n;
    if (!prototypes || double(first_example) < model_.spec().contrast.start * double(n) ||
        prototypes->epochs() == epoch + 1)
      return;
    std::vector<double> projections;
    each_batch(Split::train, batch_, n, [&](Tape& tape, const EncoderInput& input) {
      const Var rows = model_.project(tape, model_.embed(tape, input));
      projections.insert(projections.end(), rows.data(), rows.data() + rows.size());
    });
    prototypes->cluster(projections, seed_, epoch);
  }

  Var loss(Tape& tape, const Examples& examples) override {
    std::vector<std::size_t> numbers;
    for (const Examples::Number& number : examples.numbers) numbers.push_back(number.index);
    return model_.loss(tape, views(examples, {seed_, tape.step}), numbers);
  }

  /// Returns the InfoNCE loss within the batch for any training loss, and the percentage of views
  /// whose nearest view is the other one of their example.
  Evaluation evaluate(Tape& tape, const Examples& examples) override {
    const std::size_t B = examples.size();
    const EncoderInput both = views(examples, {seed_, 0, examples.split != Split::train});
    const Var similarities = view_similarities(model_.project(tape, model_.embed(tape, both)),
                                               model_.spec().contrast.temperature);
    const Evaluation of_views = evaluate_answers(similarities, partners(B));
    return {of_views.loss_sum / 2,
            B,
            "nats",
            {{"matched", "matched", of_views.measures[0].sum / 2, true}}};
  }

  Embeddings embeddings(Split split, std::size_t batch) override {
    Embeddings all{learner_.width(), learner_.format().classes()};
    each_batch(
        split, batch, most_embeddings,
        [&](Tape& tape, const EncoderInput& input) {
          const Var rows = model_.embed(tape, input);
          all.values.insert(all.values.end(), rows.data(), rows.data() + rows.size());
        },
        all.classes > 0 ? &all.labels : nullptr);
    return all;
  }

  /// Returns examples without augmentation, and their embeddings.
  NamedArrays arrays(const Examples& examples) override {
    const EncoderInput input = learner_.format().encode(source_->read(model_, examples));
    Tape tape({.recording = false});
    NamedArrays all{{"outputs", array_of(model_.embed(tape, input).value())}};
    if (input.tokens.shape.empty()) {
      all.emplace_back("values", array_of(input.values));
      return all;
    }
    all.emplace_back("tokens", array_of(input.tokens));
    all.emplace_back("lengths", array_of(input.lengths, {input.lengths.size()}));
    all.emplace_back("times", array_of(input.times));
    return all;
  }

  void illustrate(Page& page) override {
    const Split split = data().examples(Split::validation) > 0 ? Split::validation : Split::train;
    add_embeddings(page, embeddings(split, batch_), split);
  }

 private:
  /// Returns both views of each example.
  EncoderInput views(const Examples& examples, const ViewPass& pass) const {
    return learner_.format().encode(source_->views(model_, examples, pass));
  }

  /// Calls take(tape, input) with batches of the first `most` examples of a split, in order and
  /// without augmentation; appends their labels.
  template <class Take>
  void each_batch(Split split, std::size_t batch, std::uint64_t most, const Take& take,
                  std::vector<std::int32_t>* labels = nullptr) {
    const std::uint64_t n = std::min(most, data().examples(split));
    for (std::uint64_t first = 0; first < n; first += batch) {
      const auto count = std::size_t(std::min<std::uint64_t>(batch, n - first));
      const std::vector<RawExample> raw =
          source_->read(model_, data().in_order(split, first, count));
      Tape tape({.recording = false});
      take(tape, learner_.format().encode(raw));
      for (const RawExample& example : raw)
        if (labels) labels->push_back(example.label);
    }
  }

  std::unique_ptr<AugmentedExamples> source_;
  ContrastLearner learner_;
  ContrastModel& model_;
  std::uint64_t seed_;
  std::size_t batch_;
};

void check_contrast(const Config& config) {
  if (config.text("data.kind") == "series") {
    check_series(config);
    require_at_most(config, "model.patch.length", "data.lookback");
  }
  if (config.text("model.positions") == "encoding")
    fail(config, "model.positions", "must not be \"encoding\" for a contrastive model",
         "model.kind");
  if (config.integer("train.batch") < 2)
    fail(config, "train.batch", "must be at least 2: negatives come from the batch");
  if (config.integer("train.shards") > 1)
    fail(config, "train.shards",
         "must be 1 for a contrastive model: negatives come from the whole batch", "model.kind");
  if (config.text("model.contrast.kind") != "prototypes") return;
  const std::vector<double>& clusters = config.number_list("model.contrast.clusters");
  if (clusters.empty()) fail(config, "model.contrast.clusters", "must not be empty");
  for (const double number : clusters)
    if (number != std::floor(number))
      fail(config, "model.contrast.clusters", "must be whole numbers");
}

}  // namespace

const char contrastive_template[] =
    R"(# Embeddings of images without labels. See docs/contrast.md, also for series and events.

[model]
kind = "contrastive"
blocks = 2
width = 64
positions = "learned"
patch.pixels = 7              # a token is 7 x 7 pixels; must divide both sides

[model.contrast]
kind = "prototypes"           # or info_nce: only pairs of views
clusters = [20, 40, 80]
start = 5                     # epochs before the first clustering
temperature = 0.07

[model.mixer]
kind = "softmax"
heads = 4

[data]
kind = "images"
files = [{files}]
views.shift = 0.07            # largest shift of a view, in sides of the image
views.rotate = 12             # largest rotation, in degrees
validation = 0.1              # the last part of the images
)";

void add_contrast_kinds(TaskKinds& kinds) {
  const ModelRows add{kinds, "contrastive", open_as<ContrastTask>, learn_as<ContrastLearner>};
  add("images", validation_fraction, check_contrast);
  add("event_files", validation_fraction, check_contrast, event_options);
  add("series", validation_splits, check_contrast, series_options);
  add("shapes", validation_examples, check_contrast);
}

}  // namespace bochner
