#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/ops/normalisation.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/events/event_files.hpp>
#include <bochner/data/files/glob.hpp>
#include <bochner/data/labelled/labelled_series.hpp>
#include <bochner/layers/models/series_classifier.hpp>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/config_templates/templates.hpp>
#include <bochner/train/tasks/labels/label_pictures.hpp>
#include <bochner/train/tasks/labels/labelled_series_facts.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/table_learner.hpp>
#include <bochner/train/tasks/task.hpp>

namespace bochner {
namespace {

RealSeriesColumns series_columns(const Config& config) {
  const EventColumns columns = event_columns(config);
  RealSeriesColumns found;
  if (!columns.sequence.empty()) found.series = columns.sequence;
  if (!columns.label.empty()) found.label = columns.label;
  found.channels = config.text_list("data.columns");
  return found;
}

/// Reads tables and files of series, one after the other.
RealSeriesSet read_series_sets(const Config& config, const std::string& key) {
  RealSeriesSet all;
  if (config.text_list(key).empty()) return all;
  for (const auto& file : expand_files(config.text_list(key), std::filesystem::current_path())) {
    try {
      RealSeriesSet set =
          series_of_table(read_array(file, table_options(config)), series_columns(config), true);
      if (all.series.empty()) all.channels = set.channels;
      if (set.channels != all.channels)
        throw DataError("has ", set.channels, " channels, the files before ", all.channels);
      std::ranges::move(set.series, std::back_inserter(all.series));
    } catch (const DataError& error) {
      throw DataError(file.string(), ": ", error.what());
    }
  }
  return all;
}

LabelledSeries open_series(const Config& config, const KnownFacts& known) {
  LabelledSeriesSpec spec{.validation = config.number("data.validation"),
                          .seed = config.count("train.seed"),
                          .numbers = config.text("data.labels") == "numbers"};
  if (!known.bytes.empty()) spec.classes = known.of<LabelledSeriesFacts>().classes;
  return {read_series_sets(config, "data.files"), read_series_sets(config, "data.test_files"),
          spec};
}

LabelledSeriesFacts facts_of(const LabelledSeries& data, const KnownFacts& known) {
  if (!known.are_exact()) return {data.channels(), data.length(), data.classes()};
  const auto facts = known.of<LabelledSeriesFacts>();
  require_known_names("label", facts.classes, data.classes());
  if (data.channels() != facts.channels)
    throw DataError("data.files: have ", data.channels(), " channels; the model has learned ",
                    facts.channels);
  return facts;
}

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
      : TableLearner(config, std::move(facts), bank_spec), columns_(series_columns(config)) {}

  std::string describe() const override {
    return fmt::format("filter bank of {} features", FilterBank(spec_).size());
  }
  LearnerAbilities abilities() override { return {.tables = this}; }
  void forward_specimen(Tape&, std::size_t) override {}

  /// Returns the probability of each class for each series of a table, in the order of their first
  /// rows.
  NamedArray predict(const NamedArray& question) override {
    const RealSeriesSet set = series_of_table(question, columns_, false);
    if (set.channels != spec_.channels)
      throw DataError("the input has ", set.channels, " channels; the model was trained on ",
                      spec_.channels);
    std::vector<SeriesValues> series;
    for (const RealSeries& one : set.series) series.push_back(one.values);
    Tape tape({.recording = false});
    const Var each = softmax(tape.constant(model_.logits(series)));
    const std::size_t n = series.size(), K = spec_.classes;
    NamedArray result{xt::xarray<double>::from_shape({n, 1 + K}), {"series"}};
    for (std::size_t k = 0; k < K; ++k) result.columns.push_back("class_" + facts_.classes[k]);
    for (std::size_t i = 0; i < n; ++i) {
      result.values(i, 0) = double(i + 1);
      std::copy_n(each.data() + i * K, K, result.values.data() + i * (1 + K) + 1);
    }
    return result;
  }

 private:
  RealSeriesColumns columns_;
};

/// Fits a filter bank and its head to series at once, before the first step; there are none.
class SeriesClassifierTask : public Task, public PredictsClasses {
 public:
  SeriesClassifierTask(const Config& config, const KnownFacts& known)
      : data_(open_series(config, known)), learner_(config, facts_of(data_, known)) {}

  Learner& learner() override { return learner_; }
  const Dataset& data() const override { return data_; }
  TaskAbilities abilities() override { return {.classes = this}; }

  std::vector<std::string> class_names() const override { return data_.classes(); }
  ClassProbabilities class_probabilities(const Examples& examples) override {
    const Batch some = batch(examples);
    Tape tape({.recording = false});
    const Var each = softmax(tape.constant(learner_.model().logits(some.series)));
    return {{each.data(), each.data() + each.size()}, some.labels.values};
  }

  void start() override {
    const Batch all = batch(data_.in_order(Split::train, 0, data_.examples(Split::train)));
    learner_.model().fit(all.series, all.labels.values);
  }

  Var loss(Tape& tape, const Examples& examples) override {
    return tape.constant(filled({}, real(evaluate(tape, examples).loss())));
  }

  Evaluation evaluate(Tape& tape, const Examples& examples) override {
    const Batch some = batch(examples);
    return evaluate_answers(tape.constant(learner_.model().logits(some.series)), some.labels);
  }

  /// Judges held-out series, or the training series, each of which the head is fitted without.
  Verdict verdict(const HeldOut& held) override;
  void illustrate(Page& page) override;

 private:
  struct Batch {
    std::vector<SeriesValues> series;
    Indices labels;
  };
  std::vector<LabelAnswer> answers(Split split);
  std::vector<LabelAnswer> answers_left_out();
  Batch batch(const Examples& examples) const {
    Batch some{{}, {{examples.size()}, {}}};
    for (std::size_t i = 0; i < examples.size(); ++i) {
      const LabelledSeries::Example one = data_.example(examples.split, examples.index(i));
      some.series.push_back(one.values);
      some.labels.values.push_back(one.label);
    }
    return some;
  }

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
  const auto most = std::ranges::max_element(of_class);
  Verdict verdict{.measure = "accuracy",
                  .data = fmt::format("{} series, each left out in turn", all),
                  .score = right / all,
                  .naive = {{"most frequent class", *most / all}},
                  .percent = true};
  const std::uint64_t n = data_.examples(held.split);
  if (n == 0 || (held.split == Split::train && !held.evaluation)) return verdict;
  const Batch asked = batch(data_.in_order(held.split, 0, n));
  verdict.remark = fmt::format("{:.1f} % of {}", 100 * verdict.score, verdict.data);
  verdict.data = format_number_of(n, "held-out example");
  verdict.score = held.evaluate(*this).mean("accuracy");
  verdict.naive[0].value =
      double(std::ranges::count(asked.labels.values, std::int32_t(most - of_class.begin()))) /
      double(n);
  return verdict;
}

/// Draws the channels of a series.
std::string draw_series(const std::string& title, SeriesValues values, std::size_t channels) {
  constexpr std::size_t most_channels = 6;
  Chart chart{.title = title, .x = {"row"}, .width = heat_map_width, .height = 160};
  const std::size_t rows = values.size() / channels;
  for (std::size_t c = 0; c < std::min(channels, most_channels); ++c) {
    Curve curve;
    for (std::size_t t = 0; t < rows; ++t) curve.add(double(t + 1), double(values[c * rows + t]));
    chart.add(channels == 1 ? "" : fmt::format("channel {}", c + 1), std::move(curve));
  }
  return draw(chart);
}

std::vector<LabelAnswer> SeriesClassifierTask::answers(Split split) {
  const Batch some = batch(data_.in_order(split, 0, data_.examples(split)));
  Tape tape({.recording = false});
  const Var each = softmax(tape.constant(learner_.model().logits(some.series)));
  const std::size_t K = data_.classes().size();
  std::vector<LabelAnswer> answers;
  for (std::size_t i = 0; i < some.series.size(); ++i) {
    const real *row = each.data() + i * K, *best = std::max_element(row, row + K);
    LabelAnswer one{std::size_t(some.labels.values[i]), std::size_t(best - row), double(*best),
                    fmt::format("{}", i + 1)};
    if (one.label != one.answer)
      one.picture =
          draw_series(fmt::format("{}: {}, taken for {}", i + 1, data_.classes()[one.label],
                                  data_.classes()[one.answer]),
                      some.series[i], data_.channels());
    answers.push_back(std::move(one));
  }
  return answers;
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
  constexpr std::size_t most_classes = 9;
  const HeldOut held = held_out_examples(data_, 1, 0);
  const bool has_held = data_.examples(held.split) > 0;
  add_label_answers(page, data_.classes(), has_held ? answers(held.split) : answers_left_out());
  page.section("Series", "The first training series of each class.");
  std::vector<std::string> charts;
  const Batch all = batch(data_.in_order(Split::train, 0, data_.examples(Split::train)));
  for (std::size_t k = 0; k < std::min(data_.classes().size(), most_classes); ++k) {
    const auto first = std::ranges::find(all.labels.values, std::int32_t(k));
    if (first == all.labels.values.end()) continue;
    charts.push_back(draw_series(data_.classes()[k],
                                 all.series[std::size_t(first - all.labels.values.begin())],
                                 data_.channels()));
  }
  page.charts(charts, card_width(heat_map_width));
}

LabelledSeriesFacts assumed_series_facts(const Config&) { return {}; }

ReadOptions labelled_series_options(const Config& config) {
  ReadOptions options{only_columns(config, "", {}), ""};
  const RealSeriesColumns read = series_columns(config);
  options.csv.texts = {read.series, read.label};
  options.csv.labels = {read.label};
  options.csv.missing = "nan";
  return options;
}

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
