#include <fmt/format.h>

#include <bochner/layers/models/label_loss.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/arrays.hpp>
#include <bochner/train/tasks/config_templates/templates.hpp>
#include <bochner/train/tasks/labels/series_inputs.hpp>
#include <bochner/train/tasks/table_learner.hpp>
#include <bochner/train/tasks/task.hpp>

namespace bochner {
namespace {

SeriesModelSpec class_model_spec(const Config& config, const LabelledSeriesFacts& facts) {
  auto spec = read_spec<SeriesModelSpec>(config, "model");
  complete(spec, config, facts);
  spec.outputs = facts.classes.size();
  return spec;
}

/// Predicts the class of each series by blocks over its rows.
class SeriesClassLearner : public TableLearner<LabelledSeriesFacts, SeriesModelSpec, SeriesModel> {
 public:
  SeriesClassLearner(const Config& config, LabelledSeriesFacts facts)
      : TableLearner(config, std::move(facts), class_model_spec),
        columns_(labelled_series_columns(config)) {}

  std::string describe() const override { return "classifier, " + describe_tokens(spec_); }
  Json sizes() const override { return {{"length", spec_.tokens(spec_.length)}}; }
  LearnerAbilities abilities() override { return {.tables = this}; }
  void forward_specimen(Tape&, std::size_t) override {}

  /// Returns the probability of each class for each series of a table, in the order of their first
  /// rows.
  NamedArray predict(const NamedArray& question) override {
    const RealSeriesSet set = asked_series(question, columns_, spec_.channels);
    require_positions(spec_, values_of(set));
    return class_probabilities(outputs_of(model_, values_of(set)), facts_.classes, set);
  }

 private:
  RealSeriesColumns columns_;
};

/// Trains a classifier of series.
class SeriesClassTask : public Task, public PredictsClasses {
 public:
  SeriesClassTask(const Config& config, const KnownFacts& known)
      : data_(open_series(config, known)),
        learner_(config, facts_of(data_, known)),
        inputs_(config),
        loss_(class_loss(config)) {
    model().fit(labelled_batch(data_, Split::train).series);
    require_positions(learner_.spec(), data_);
  }

  Learner& learner() override { return learner_; }
  const Dataset& data() const override { return data_; }
  TaskAbilities abilities() override { return {.classes = this}; }

  std::vector<std::string> class_names() const override { return data_.classes(); }
  ClassProbabilities class_probabilities(const Examples& examples) override {
    const LabelledSeriesBatch batch = labelled_batch(data_, examples);
    return probabilities_of(outputs_of(model(), batch.series), batch.labels);
  }

  Var loss(Tape& tape, const Examples& examples) override {
    const LabelledSeriesBatch batch = labelled_batch(data_, examples);
    const Var logits = model().forward(tape, inputs_.training(model(), batch, examples));
    return loss_(logits, batch.labels);
  }

  Evaluation evaluate(Tape& tape, const Examples& examples) override {
    const LabelledSeriesBatch batch = labelled_batch(data_, examples);
    return evaluate_answers(model().forward(tape, batch.series), batch.labels);
  }

  NamedArrays arrays(const Examples& examples) override {
    const LabelledSeriesBatch batch = labelled_batch(data_, examples);
    Tape tape({.recording = false});
    const SeriesTokens tokens = inputs_.training(model(), batch, examples);
    NamedArrays all = arrays_of(tokens, model().forward(tape, tokens));
    all.emplace_back("targets", array_of(batch.labels));
    return all;
  }

  Verdict verdict(const HeldOut& held) override {
    const TakenBatches taken = held.taken(data_);
    if (taken.count == 0) return {};
    Indices labels;
    for (std::uint64_t k = 0; k < taken.count; ++k) {
      const Examples part = data_.part(held.split, taken.index(k), held.batch);
      const Indices more = labelled_batch(data_, part).labels;
      labels.values.insert(labels.values.end(), more.values.begin(), more.values.end());
    }
    return class_verdict(labels, data_.classes().size(), held.evaluate(*this));
  }

  void illustrate(Page& page) override {
    const Split split = held_out_examples(data_, 1, 0).split;
    const LabelledSeriesBatch some = labelled_batch(data_, split);
    add_label_answers(page, data_.classes(),
                      series_answers(data_, some, outputs_of(model(), some.series)));
    add_series_of_classes(page, data_);
  }

 private:
  SeriesModel& model() { return learner_.model(); }

  /// Returns the loss, with weights of classes if the config wants them.
  ClassLoss class_loss(const Config& config) const {
    const auto spec = read_spec<LabelLossSpec>(config, "model");
    if (spec.class_weights == "none") return ClassLoss(spec);
    std::vector<double> counts(data_.classes().size());
    for (const std::int32_t label : labelled_batch(data_, Split::train).labels.values)
      ++counts[std::size_t(label)];
    return ClassLoss(spec, balanced_weights(counts));
  }

  LabelledSeries data_;
  SeriesClassLearner learner_;
  SeriesInputs inputs_;
  ClassLoss loss_;
};

LabelledSeriesFacts assumed_class_facts(const Config&) { return {}; }

void check_class_labels(const Config& config) {
  if (config.text("data.labels") == "numbers")
    fail(config, "data.labels",
         "must be \"classes\" with " + assignment(config, "model.kind") +
             "; choose model.kind = \"regressor\" for numbers",
         "model.kind");
}

}  // namespace

const char series_classifier_template[] =
    R"(# A classifier of series by blocks over patches of their rows. See docs/tasks.md.

[model]
kind = "classifier"           # regressor: a number, with data.labels = "numbers"
blocks = 2
width = 64
positions = "sinusoidal"      # learned ones end with the longest training series
dropout = 0.2
label_smoothing = 0.1
patch.length = 8              # rows of a token
patch.stride = 2              # from one token to the next

[model.mixer]
kind = "softmax"              # attention; others: linear, ssm, hyena, ...
heads = 4

[data]
kind = "labelled_series"
files = [{files}]
{columns}validation = 0.2              # of the series of each class
augment.warp = 0.2            # largest change of the pace of time
augment.scale = 0.1
augment.noise = 0.1
augment.missing = 0.2         # share of the values that is removed
)";

void add_series_class_kinds(TaskKinds& kinds) {
  const ModelRows add{kinds, "classifier", open_as<SeriesClassTask>,
                      learn_as<SeriesClassLearner, assumed_class_facts>};
  add("labelled_series", validation_fraction, check_class_labels, labelled_series_options);
}

}  // namespace bochner
