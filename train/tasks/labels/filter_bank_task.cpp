#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/ops/normalisation.hpp>
#include <bochner/base/text.hpp>
#include <bochner/layers/models/series_classifier.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/config_templates/templates.hpp>
#include <bochner/train/tasks/labels/label_pictures.hpp>
#include <bochner/train/tasks/labels/series_data.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/table_learner.hpp>
#include <bochner/train/tasks/task.hpp>

namespace bochner {
namespace {

SeriesClassifierSpec bank_spec(const Config& config, const LabelledSeriesFacts& facts) {
  auto spec = read_spec<SeriesClassifierSpec>(config, "model");
  complete(spec.density, config);
  spec.seed = config.count("train.seed");
  spec.channels = facts.channels;
  spec.length = facts.length;
  spec.classes = facts.classes.size();
  return spec;
}

/// Predicts the class of each series.
class SeriesLearner
    : public TableLearner<LabelledSeriesFacts, SeriesClassifierSpec, SeriesClassifier> {
 public:
  SeriesLearner(const Config& config, LabelledSeriesFacts facts)
      : TableLearner(config, std::move(facts), bank_spec),
        columns_(labelled_series_columns(config)) {}

  std::string describe() const override {
    return fmt::format("filter bank of {} features", FilterBank(spec_).size());
  }
  LearnerAbilities abilities() override { return {.tables = this}; }
  void forward_specimen(Tape&, std::size_t) override {}

  /// Returns the probability of each class for each series of a table, in the order of their first
  /// rows.
  NamedArray predict(const NamedArray& question) override {
    const RealSeriesSet set = asked_series(question, columns_, spec_.channels);
    return class_probabilities(model_.logits(values_of(set)), facts_.classes, set);
  }

 private:
  RealSeriesColumns columns_;
};

/// Fits a filter bank and its head to series at once, before the first step; there are none.
class SeriesClassifierTask : public Task {
 public:
  SeriesClassifierTask(const Config& config, const KnownFacts& known)
      : data_(open_series(config, known)), learner_(config, facts_of(data_, known)) {}

  Learner& learner() override { return learner_; }
  const Dataset& data() const override { return data_; }

  void start() override {
    const LabelledSeriesBatch all =
        labelled_batch(data_, data_.in_order(Split::train, 0, data_.examples(Split::train)));
    learner_.model().fit(all.series, all.labels.values);
  }

  Var loss(Tape& tape, const Examples& examples) override {
    return tape.constant(filled({}, real(evaluate(tape, examples).loss())));
  }

  Evaluation evaluate(Tape& tape, const Examples& examples) override {
    const LabelledSeriesBatch some = labelled_batch(data_, examples);
    return evaluate_answers(tape.constant(learner_.model().logits(some.series)), some.labels);
  }

  /// Judges held-out series, or the training series, each of which the head is fitted without.
  Verdict verdict(const HeldOut& held) override;
  void illustrate(Page& page) override;

 private:
  std::vector<LabelAnswer> answers(Split split);
  std::vector<LabelAnswer> answers_left_out();

  LabelledSeries data_;
  SeriesLearner learner_;
};

Verdict SeriesClassifierTask::verdict(const HeldOut& held) {
  const Tensor& counts = learner_.model().left_out();
  const std::size_t K = data_.classes().size();
  std::vector<double> of_class(K);
  double all = 0, right = 0;
  for (std::size_t k = 0; k < K; ++k) {
    for (std::size_t j = 0; j < K; ++j) of_class[k] += double(counts(k, j));
    right += double(counts(k, k));
    all += of_class[k];
  }
  const Verdict left_out{.measure = "accuracy",
                         .data = fmt::format("{} series, each left out in turn", all),
                         .score = right / all,
                         .naive = {most_frequent_class(of_class)},
                         .percent = true};
  const std::uint64_t n = data_.examples(held.split);
  if (n == 0 || (held.split == Split::train && !held.evaluation)) return left_out;
  Verdict verdict = class_verdict(labelled_batch(data_, data_.in_order(held.split, 0, n)).labels, K,
                                  held.evaluate(*this));
  verdict.remark = fmt::format("{:.1f} % of {}", 100 * left_out.score, left_out.data);
  return verdict;
}

std::vector<LabelAnswer> SeriesClassifierTask::answers(Split split) {
  const LabelledSeriesBatch some =
      labelled_batch(data_, data_.in_order(split, 0, data_.examples(split)));
  return series_answers(data_, some, learner_.model().logits(some.series));
}

/// Returns the answers to training series that the head is fitted without.
std::vector<LabelAnswer> SeriesClassifierTask::answers_left_out() {
  const Tensor& counts = learner_.model().left_out();
  const std::size_t K = data_.classes().size();
  std::vector<LabelAnswer> answers;
  for (std::size_t i = 0; i < K * K; ++i)
    answers.insert(answers.end(), std::size_t(counts.data()[i]), {i / K, i % K});
  return answers;
}

void SeriesClassifierTask::illustrate(Page& page) {
  const HeldOut held = held_out_examples(data_, 1, 0);
  const bool has_held = data_.examples(held.split) > 0;
  add_label_answers(page, data_.classes(), has_held ? answers(held.split) : answers_left_out());
  add_series_of_classes(page, data_);
}

LabelledSeriesFacts assumed_series_facts(const Config&) { return {}; }

}  // namespace

const char filter_bank_template[] =
    R"(# A classifier of series by random convolutions. See docs/tasks.md.

[model]
kind = "filter_bank"
groups = 32                   # of 8 filters for each dilation

[data]
kind = "labelled_series"
files = [{files}]
{columns}validation = 0                # the verdict leaves out each series in turn

[train]
steps = 0                     # fitted at once
)";

void add_series_label_kinds(TaskKinds& kinds) {
  const ModelRows add{kinds, "filter_bank", open_as<SeriesClassifierTask>,
                      learn_as<SeriesLearner, assumed_series_facts>};
  add("labelled_series", validation_fraction, check_fitted_at_once, labelled_series_options);
}

}  // namespace bochner
