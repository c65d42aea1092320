#include <fmt/format.h>

#include <algorithm>
#include <bochner/layers/models/contrast_losses.hpp>
#include <bochner/train/tasks/arrays.hpp>
#include <bochner/train/tasks/contrast/augmented_examples.hpp>
#include <bochner/train/tasks/contrast/embedding_pictures.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>

namespace bochner {
namespace {

constexpr std::uint64_t most_embeddings = 65536;

ContrastModelSpec contrast_spec(const Config& config) {
  ContrastModelSpec spec;
  spec.encoder.trunk = read_spec<TrunkSpec>(config, "model");
  spec.contrast = read_spec<ContrastSpec>(config, "model.contrast");
  return spec;
}

ContrastModelSpec contrast_spec(const Config& config, const AugmentedExamples& source) {
  ContrastModelSpec spec = contrast_spec(config);
  source.complete(spec);
  spec.examples = source.data().examples(Split::train);
  complete(spec.encoder.trunk.time.density, config);
  complete(spec.encoder.trunk, config, spec.encoder.trunk.length);
  return spec;
}

std::string words_of_tokens(const SequenceEncoderSpec& spec) {
  if (spec.values > 0)
    return fmt::format("{} tokens of {} numbers", spec.trunk.length, spec.values);
  return fmt::format("positions {}, time {}", spec.trunk.positions, describe_time(spec.trunk.time));
}

/// Embeddings of examples by what two views of each have in common. Labels are not seen.
class ContrastTask : public Task {
 public:
  explicit ContrastTask(const Config& config)
      : source_(view_source(config)),
        model_(contrast_spec(config, *source_)),
        seed_(config.count("train.seed")),
        batch_(config.count("train.batch")) {
    initialize(model_, seed_);
    source_->fit(model_, seed_);
  }

  Module& model() override { return model_; }
  const Dataset& data() const override { return source_->data(); }

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
    return model_.loss(tape, source_->views(model_, examples, {seed_, tape.step}), numbers);
  }

  /// InfoNCE, whatever is learned, among the examples of a batch; how many views are most similar
  /// to the other one of their example.
  Evaluation evaluate(Tape& tape, const Examples& examples) override {
    const std::size_t B = examples.size();
    const EncoderInput views =
        source_->views(model_, examples, {seed_, 0, examples.split != Split::train});
    const Var similarities = view_similarities(model_.project(tape, model_.embed(tape, views)),
                                               model_.spec().contrast.temperature);
    const Evaluation of_views = evaluate_answers(similarities, partners(B));
    return {of_views.loss_sum / 2,
            B,
            "nats",
            {{"matched", "matched", of_views.measures[0].sum / 2, true}}};
  }

  Vocabularies names() const override { return source_->names(); }
  std::vector<std::string> input_columns() const override { return source_->columns(); }

  /// An embedding for each image, each sequence of events in the order of their first rows, or each
  /// window of a series, of which the first column says the last row.
  NamedArray predict(const NamedArray& input) override {
    const AugmentedExamples::Asked asked = source_->read_table(model_, input);
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
      const Var rows = model_.embed(tape, source_->encode(part));
      for (std::size_t i = 0; i < part.size(); ++i)
        std::copy_n(rows.data() + i * D, D, &result.values(first + i, before));
    }
    return result;
  }

  std::optional<Embeddings> embeddings(Split split, std::size_t batch) override {
    Embeddings all{width(), source_->classes()};
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
    const EncoderInput input = source_->encode(source_->read(model_, examples));
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
    add_embeddings(page, *embeddings(split, batch_), split);
  }

  std::string describe_model() const override {
    const ContrastModelSpec& spec = model_.spec();
    std::string kind = spec.contrast.kind;
    if (model_.spec().contrast.kind == "prototypes")
      kind += fmt::format("({})", fmt::join(spec.contrast.clusters, ", "));
    return fmt::format("contrastive, {}, {}, temperature {}, {}", kind,
                       describe_stack(spec.encoder.trunk), spec.contrast.temperature,
                       words_of_tokens(spec.encoder));
  }

 private:
  std::size_t width() const { return model_.spec().encoder.trunk.block.width; }

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
      take(tape, source_->encode(raw));
      for (const RawExample& example : raw)
        if (labels) labels->push_back(example.label);
    }
  }

  std::unique_ptr<AugmentedExamples> source_;
  ContrastModel model_;
  std::uint64_t seed_;
  std::size_t batch_;
};

}  // namespace

std::unique_ptr<Task> make_contrast_task(const Config& config) {
  return std::make_unique<ContrastTask>(config);
}

/// The names do not depend on the sizes that files tell.
std::unique_ptr<Module> stand_in_for_contrast(const Config& config) {
  ContrastModelSpec spec = contrast_spec(config);
  const std::string& data = config.text("data.kind");
  spec.contrast.kind = "info_nce";  // prototypes have no parameters
  spec.encoder.trunk.timed = data == "event_files";
  spec.encoder.values = spec.encoder.trunk.timed ? 0 : 1;
  spec.variates = data == "series";
  complete(spec.encoder.trunk.time.density, config);
  complete(spec.encoder.trunk, config, spec.encoder.trunk.length);
  return std::make_unique<ContrastModel>(spec);
}

}  // namespace bochner
