#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/numeric/special_functions.hpp>
#include <bochner/train/tasks/arrays.hpp>
#include <bochner/train/tasks/config_templates/templates.hpp>
#include <bochner/train/tasks/labels/filter_bank_task.hpp>
#include <bochner/train/tasks/labels/filter_pictures.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/series/forecast_requests.hpp>
#include <cmath>
#include <set>

namespace bochner {
namespace {

FilterBankModelSpec bank_spec(const Config& config, const LabelledSeriesFacts& facts) {
  auto spec = read_spec<FilterBankModelSpec>(config, "model");
  complete(spec.density, config);
  spec.seed = config.count("train.seed");
  spec.channels = facts.channels;
  spec.length = facts.length;
  spec.classes = facts.classes.size();
  return spec;
}

/// Returns the series of a batch, each once.
LabelledSeriesBatch without_repeats(const LabelledSeries& data, const Examples& examples) {
  const LabelledSeriesBatch all = labelled_batch(data, examples);
  LabelledSeriesBatch some;
  std::set<std::uint64_t> seen;
  for (std::size_t i = 0; i < all.series.size(); ++i) {
    if (!seen.insert(examples.index(i)).second) continue;
    some.series.push_back(all.series[i]);
    some.labels.values.push_back(all.labels.values[i]);
    some.numbers.push_back(all.numbers[i]);
  }
  some.labels.shape = {some.series.size()};
  return some;
}

/// Returns numbers with deviations and quantiles. (n, 3 + levels)
NamedArray number_table(const Tensor& numbers, double deviation, const RealSeriesSet& set) {
  const std::vector<double> levels = {0.025, 0.1, 0.9, 0.975};
  const std::size_t n = numbers.size(), P = levels.size();
  NamedArray result{xt::xarray<double>::from_shape({n, 3 + P}),
                    {"series", "number", "number_deviation"}};
  for (const std::string& ending : quantile_endings(levels))
    result.columns.push_back("number" + ending);
  for (std::size_t i = 0; i < n; ++i) {
    const double number = double(numbers.data()[i]);
    result.values(i, 1) = number;
    result.values(i, 2) = deviation;
    for (std::size_t p = 0; p < P; ++p)
      result.values(i, 3 + p) = number + deviation * quantile::normal(levels[p]);
  }
  name_series(result, set);
  return result;
}

/// Trains on the classes of series.
class FilterBankOfClasses : public FilterBankTask, public PredictsClasses {
 public:
  using FilterBankTask::FilterBankTask;
  TaskAbilities abilities() override { return {.classes = this}; }

  std::vector<std::string> class_names() const override { return data_.classes(); }
  ClassProbabilities class_probabilities(const Examples& examples) override {
    const LabelledSeriesBatch some = labelled_batch(data_, examples);
    return probabilities_of(model().outputs(some.series), some.labels);
  }

  Evaluation evaluate(Tape& tape, const Examples& examples) override {
    const LabelledSeriesBatch some = labelled_batch(data_, examples);
    return evaluate_answers(tape.constant(model().outputs(some.series)), some.labels);
  }

  /// Judges held-out series, or the training series, each of which the head is fitted without.
  Verdict verdict(const HeldOut& held) override;
  void illustrate(Page& page) override;

 protected:
  void fit_head(const LabelledSeriesBatch& batch) override {
    model().fit_head(batch.series, batch.labels.values);
  }
  Var loss_of(Tape& tape, const LabelledSeriesBatch& batch) override {
    return model().loss(tape, batch.series, batch.labels);
  }

 private:
  std::vector<LabelAnswer> answers(Split split);
  std::vector<LabelAnswer> answers_left_out();
};

Verdict FilterBankOfClasses::verdict(const HeldOut& held) {
  const Tensor& counts = model().left_out();
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
  if (!judges(held)) return left_out;
  Verdict verdict =
      class_verdict(labelled_batch(data_, held.split).labels, K, held.evaluate(*this));
  verdict.remark = fmt::format("{:.1f} % of {}", 100 * left_out.score, left_out.data);
  return verdict;
}

std::vector<LabelAnswer> FilterBankOfClasses::answers(Split split) {
  const LabelledSeriesBatch some = labelled_batch(data_, split);
  return series_answers(data_, some, model().outputs(some.series));
}

/// Returns the answers to training series that the head is fitted without.
std::vector<LabelAnswer> FilterBankOfClasses::answers_left_out() {
  const Tensor& counts = model().left_out();
  const std::size_t K = data_.classes().size();
  std::vector<LabelAnswer> answers;
  for (std::size_t i = 0; i < K * K; ++i)
    answers.insert(answers.end(), std::size_t(counts.data()[i]), {i / K, i % K});
  return answers;
}

void FilterBankOfClasses::illustrate(Page& page) {
  const HeldOut held = held_out_examples(data_, 1, 0);
  const bool has_held = data_.examples(held.split) > 0;
  add_label_answers(page, data_.classes(), has_held ? answers(held.split) : answers_left_out());
  add_deciding_filters(page, model(), data_.classes(), labelled_batch(data_, Split::train));
  add_series_of_classes(page, data_);
}

LabelledSeriesFacts assumed_series_facts(const Config& config) {
  LabelledSeriesFacts facts;
  if (config.text("data.labels") == "numbers") facts.classes.clear();
  return facts;
}

std::unique_ptr<Task> open_filter_bank(const Config& config, const KnownFacts& known) {
  if (config.text("data.labels") == "numbers") return open_filter_bank_of_numbers(config, known);
  return std::make_unique<FilterBankOfClasses>(config, known);
}

/// The leave-one-out loss of a batch is no sum over shards, and the head is fitted to the weights
/// of the last step.
void check_filter_bank(const Config& config) {
  if (config.period("train.steps").off()) return;
  const std::string why = " where train.steps trains a filter bank";
  if (config.count("train.batch") < 2)
    fail(config, "train.batch", "must be at least 2" + why + ": each series is left out in turn");
  if (config.count("train.shards") > 1)
    fail(config, "train.shards", "must be 1" + why + ": its loss is no sum over series");
  if (config.number("optim.ema") > 0)
    fail(config, "optim.ema", "must be 0" + why + ": the head is fitted to the last weights");
  if (config.text("optim.kind") == "schedule_free")
    fail(config, "optim.kind",
         "evaluates an average of the weights" + why + ": the head is fitted to the last weights");
}

}  // namespace

FilterBankLearner::FilterBankLearner(const Config& config, LabelledSeriesFacts facts)
    : TableLearner(config, std::move(facts), bank_spec),
      columns_(labelled_series_columns(config)) {}

std::string FilterBankLearner::describe() const {
  return fmt::format("filter bank of {} features", FilterBank(spec_).size());
}

NamedArray FilterBankLearner::predict(const NamedArray& question) {
  const RealSeriesSet set = asked_series(question, columns_, spec_.channels);
  const Tensor outputs = model_.outputs(values_of(set));
  if (spec_.classes == 0) return number_table(outputs, model_.numbers().error, set);
  return class_probabilities(outputs, facts_.classes, set);
}

FilterBankTask::FilterBankTask(const Config& config, const KnownFacts& known)
    : data_(open_series(config, known)),
      learner_(config, facts_of(data_, known)),
      learns_(!config.period("train.steps").off()) {
  if (learns_ && data_.examples(Split::train) < 2)
    throw DataError("data.files: needs two series to train filters; set train.steps=0");
}

void FilterBankTask::start() {
  const LabelledSeriesBatch all = labelled_batch(data_, Split::train);
  model().bank().fit(all.series);
  fit_head(all);
  fitted_ = model().bank().filters();
}

void FilterBankTask::fit_closed_form() {
  if (!learns_) return;
  Tensor filters = model().bank().filters();
  if (fitted_ == filters) return;
  fit_head(labelled_batch(data_, Split::train));
  fitted_ = std::move(filters);
}

NamedArrays FilterBankTask::arrays(const Examples& examples) {
  const LabelledSeriesBatch some = labelled_batch(data_, examples);
  const std::size_t n = some.series.size(), C = data_.channels();
  std::vector<double> lengths;
  for (const auto& one : some.series) lengths.push_back(double(one.size() / C));
  const auto T = std::size_t(std::ranges::max(lengths));
  auto values = xt::xarray<double>::from_shape({n, C, T});
  values.fill(NAN);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t c = 0; c < C; ++c)
      for (std::size_t t = 0; t < std::size_t(lengths[i]); ++t)
        values(i, c, t) = double(some.series[i][c * std::size_t(lengths[i]) + t]);
  const bool numbers = data_.classes().empty();
  return {{"values", values},
          {"lengths", array_of(lengths, {n})},
          {"targets", numbers ? array_of(some.numbers, {n}) : array_of(some.labels)},
          {"outputs", array_of(model().outputs(some.series))}};
}

Var FilterBankTask::loss(Tape& tape, const Examples& examples) {
  if (!tape.recording) return tape.constant(filled({}, real(evaluate(tape, examples).loss())));
  return loss_of(tape, without_repeats(data_, examples));
}

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
  const ModelRows add{kinds, "filter_bank", open_filter_bank,
                      learn_as<FilterBankLearner, assumed_series_facts>};
  add("labelled_series", validation_fraction, check_filter_bank, labelled_series_options);
}

}  // namespace bochner
