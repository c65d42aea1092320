#include <algorithm>
#include <bochner/layers/models/contrast_losses.hpp>
#include <bochner/train/tasks/arrays.hpp>
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

/// Learns embeddings of examples by what two views of each have in common. Labels are not seen.
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

  /// InfoNCE, whatever is learned, among the examples of a batch; how many views are most similar
  /// to the other one of their example.
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

  /// Examples as they are, and their embeddings.
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
  /// Both views of each example.
  EncoderInput views(const Examples& examples, const ViewPass& pass) const {
    return learner_.format().encode(source_->views(model_, examples, pass));
  }

  /// take(tape, input) for the first examples of a split, in their order, as they are.
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
