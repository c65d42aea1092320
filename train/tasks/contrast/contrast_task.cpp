#include <algorithm>
#include <bochner/layers/models/contrast_model.hpp>
#include <bochner/train/tasks/arrays.hpp>
#include <bochner/train/tasks/config_templates/templates.hpp>
#include <bochner/train/tasks/contrast/augmented_examples.hpp>
#include <bochner/train/tasks/contrast/contrast_checks.hpp>
#include <bochner/train/tasks/contrast/contrast_learner.hpp>
#include <bochner/train/tasks/contrast/embedding_pictures.hpp>
#include <bochner/train/tasks/events/event_data.hpp>
#include <bochner/train/tasks/series/series_data.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>

namespace bochner {
namespace {

constexpr std::uint64_t most_embeddings = 65536;

/// Trains embeddings by contrasting two views of each example; labels are not used.
class ContrastTask : public Task, public PreparesSteps, public Embeds {
 public:
  ContrastTask(const Config& config, const KnownFacts& known)
      : source_(make_augmented_examples(config, known)),
        learner_(config, make_contrast_format(config, {source_->facts()})),
        model_(learner_.contrast_model()),
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

std::unique_ptr<Task> open_contrast_task(const Config& config, const KnownFacts& known) {
  return std::make_unique<ContrastTask>(config, known);
}

std::unique_ptr<Learner> contrast_learner(const Config& config, const KnownFacts& facts) {
  return std::make_unique<ContrastLearner>(config, make_contrast_format(config, facts));
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

[optim]
lr = 3e-3
schedule.kind = "cosine"
schedule.warmup = 50
clip = 1.0

[train]
batch = 128
steps = 2000
validate.every = 500
)";

void add_contrast_kinds(TaskKinds& kinds) {
  const auto add = [&](const char* data, const char* validation,
                       ReadOptions (*read)(const Config&)) {
    kinds.push_back({.data = data,
                     .model = "contrastive",
                     .open = open_contrast_task,
                     .learn = contrast_learner,
                     .validation = validation,
                     .check = check_contrast,
                     .read = read});
  };
  add("images", validation_fraction, nullptr);
  add("event_files", validation_fraction, event_options);
  add("series", validation_splits, series_options);
  add("shapes", validation_examples, nullptr);
}

}  // namespace bochner
