#include <bochner/train/tasks/arrays.hpp>
#include <bochner/train/tasks/config_templates/templates.hpp>
#include <bochner/train/tasks/data_tables.hpp>
#include <bochner/train/tasks/events/event_data.hpp>
#include <bochner/train/tasks/fit_time_scale.hpp>
#include <bochner/train/tasks/labels/label_data.hpp>
#include <bochner/train/tasks/labels/label_learner.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <bochner/train/tasks/text/generated_checks.hpp>

namespace bochner {
namespace {

/// Trains a classifier of sequences.
class ClassifierTask : public Task {
 public:
  ClassifierTask(const Config& config, const KnownFacts& known)
      : data_(config, known), learner_(config, label_facts(config, data_, known)) {
    const SequenceClassifierSpec& spec = learner_.spec();
    if (spec.trunk.timed)
      fit_times(model(), classifier().time_scale(), spec.trunk.time,
                sequences().batch(scale_examples(data())).times, config.count("train.seed"));
  }

  Learner& learner() override { return learner_; }
  const Dataset& data() const override { return *data_.sequences; }

  Var loss(Tape& tape, const Examples& examples) override {
    const LabelledBatch batch = sequences().batch(examples);
    return classifier().loss(tape, batch.tokens, batch.labels, batch.lengths, batch.times);
  }

  Evaluation evaluate(Tape& tape, const Examples& examples) override {
    const LabelledBatch batch = sequences().batch(examples);
    return evaluate_answers(classifier().logits(tape, batch.tokens, batch.lengths, batch.times),
                            batch.labels);
  }

  NamedArrays arrays(const Examples& examples) override {
    const LabelledBatch batch = sequences().batch(examples);
    Tape tape({.recording = false});
    const Var logits = classifier().logits(tape, batch.tokens, batch.lengths, batch.times);
    NamedArrays all{{"tokens", array_of(batch.tokens)},
                    {"targets", array_of(batch.labels)},
                    {"outputs", array_of(logits.value())}};
    if (!batch.lengths.empty())
      all.emplace_back("lengths", array_of(batch.lengths, {batch.lengths.size()}));
    if (learner_.spec().trunk.timed) all.emplace_back("times", array_of(batch.times));
    return all;
  }

 private:
  const LabelledSequences& sequences() const { return *data_.sequences; }
  SequenceClassifier& classifier() { return learner_.classifier(); }

  LabelData data_;
  LabelLearner learner_;
};

std::unique_ptr<Task> open_classifier_task(const Config& config, const KnownFacts& known) {
  return std::make_unique<ClassifierTask>(config, known);
}

std::unique_ptr<Learner> label_learner(const Config& config, const KnownFacts& facts) {
  LabelFacts known = facts.of<LabelFacts>();
  if (facts.bytes.empty()) {
    known.vocabulary = 300;
    known.length = config.count("data.length") + 1;
    if (config.text("data.kind") == "images") {
      known.rows = known.columns = 8;
      known.length = known.rows * known.columns + 1;
    }
  }
  return std::make_unique<LabelLearner>(config, std::move(known));
}

ReadOptions text_options(const Config& config) {
  CsvOptions csv =
      only_columns(config, "", {config.text("data.text_column"), config.text("data.label_column")});
  csv.texts = {config.text("data.text_column"), config.text("data.label_column")};
  csv.labels = {config.text("data.label_column")};
  csv.missing = "nan";
  return {csv, ""};
}

}  // namespace

const char classifier_template[] = R"(# A classifier of {what}. See docs/tasks.md.

[model]
kind = "classifier"
blocks = 2
width = 64
positions = "{positions}"
pooling = "mean"
dropout = 0.1

[model.mixer]
kind = "linear"               # attention in O(T); others: softmax, ssm, hyena, ...
heads = 4
features = "positive"         # phi: the feature map
m = 32                        # features
convolution = 4

[data]
kind = "{data}"                # or images (IDX, CIFAR), event_files
files = [{files}]
{columns}validation = 0.1              # of the examples

[optim]
lr = {lr}
weight_decay = {weight_decay}
schedule.kind = "cosine"
schedule.warmup = {warmup}
clip = 1.0

[train]
batch = 16
steps = {steps}
validate.every = {validate}
)";

void add_label_kinds(TaskKinds& kinds) {
  const auto add = [&](const char* data, const char* validation, void (*check)(const Config&),
                       ReadOptions (*read)(const Config&)) {
    kinds.push_back({.data = data,
                     .model = "classifier",
                     .open = open_classifier_task,
                     .learn = label_learner,
                     .validation = validation,
                     .check = check,
                     .read = read});
  };
  add("listops", validation_examples, check_list_ops, nullptr);
  add("images", validation_fraction, nullptr, nullptr);
  add("shapes", validation_examples, nullptr, nullptr);
  add("texts", validation_fraction, nullptr, text_options);
  add("event_files", validation_fraction, check_labels, event_options);
}

}  // namespace bochner
