#include <fmt/format.h>

#include <bochner/base/format.hpp>
#include <bochner/base/numeric/quantile.hpp>
#include <bochner/base/text.hpp>
#include <bochner/layers/models/series_regressor.hpp>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/arrays.hpp>
#include <bochner/train/tasks/config_templates/templates.hpp>
#include <bochner/train/tasks/labels/series_inputs.hpp>
#include <bochner/train/tasks/series/forecast_requests.hpp>
#include <bochner/train/tasks/series/series_data.hpp>
#include <bochner/train/tasks/table_learner.hpp>
#include <bochner/train/tasks/task.hpp>
#include <cmath>
#include <numeric>

namespace bochner {
namespace {

SeriesRegressorSpec regressor_spec(const Config& config, const LabelledSeriesFacts& facts) {
  auto spec = read_spec<SeriesRegressorSpec>(config, "model");
  complete(spec, config, facts);
  return spec;
}

/// Predicts a number for each series by blocks over its rows.
class SeriesNumberLearner
    : public TableLearner<LabelledSeriesFacts, SeriesRegressorSpec, SeriesRegressor> {
 public:
  SeriesNumberLearner(const Config& config, LabelledSeriesFacts facts)
      : TableLearner(config, std::move(facts), regressor_spec),
        columns_(labelled_series_columns(config)) {}

  std::string describe() const override {
    return fmt::format("regressor, loss {}, {}", spec_.loss.kind, describe_tokens(spec_));
  }
  std::string loss_unit() const override {
    return spec_.predicts_deviation()   ? "nats"
           : spec_.predicts_quantiles() ? "pinball"
                                        : spec_.loss.kind;
  }
  Json sizes() const override { return {{"length", spec_.tokens(spec_.length)}}; }
  LearnerAbilities abilities() override { return {.tables = this}; }
  void forward_specimen(Tape&, std::size_t) override {}

  /// Returns the expected number of each series of a table, in the order of their first rows, and
  /// its quantiles if they are known.
  NamedArray predict(const NamedArray& question) override {
    const RealSeriesSet set = asked_series(question, columns_, spec_.channels);
    require_positions(spec_, values_of(set));
    const NumberAnswers answers = answer(values_of(set));
    has_quantiles_ = !answers.quantiles.empty();
    const std::vector<double> levels = has_quantiles_ ? spec_.levels() : std::vector<double>{};
    const std::size_t n = set.series.size(), P = levels.size();
    NamedArray result{xt::xarray<double>::from_shape({n, 2 + P}), {"series", "number"}};
    for (const std::string& ending : quantile_endings(levels))
      if (P > 0) result.columns.push_back("number" + ending);
    for (std::size_t i = 0; i < n; ++i) {
      result.values(i, 1) = answers.expected[i];
      for (std::size_t p = 0; p < P; ++p) result.values(i, 2 + p) = answers.quantiles[i * P + p];
    }
    name_series(result, set);
    return result;
  }
  std::vector<std::string> notes() const override {
    const std::size_t n = model_.held_out(), fewest = model_.fewest_held_out();
    if (!has_quantiles_)
      return {"no intervals: the run has held out no series; set data.validation"};
    if (n == 0)
      return {"intervals are as the model has learned them; data.validation corrects them"};
    if (n >= fewest) return {};
    return {fmt::format("intervals are of {}, the outer ones need {}; raise data.validation",
                        format_number_of(n, "held-out example"), fewest)};
  }

  NumberAnswers answer(const std::vector<SeriesValues>& series) {
    return model_.answers(outputs_of(model_.series(), series));
  }

 private:
  RealSeriesColumns columns_;
  bool has_quantiles_ = true;
};

double mean_of(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / double(numbers.size());
}

/// Trains a model of a number of each series.
class SeriesNumberTask : public Task {
 public:
  SeriesNumberTask(const Config& config, const KnownFacts& known)
      : data_(open_series(config, known)),
        learner_(config, facts_of(data_, known)),
        inputs_(config) {
    const LabelledSeriesBatch all = labelled_batch(data_, Split::train);
    learner_.model().fit(all.series, all.numbers);
    require_positions(learner_.spec(), data_);
  }

  Learner& learner() override { return learner_; }
  const Dataset& data() const override { return data_; }

  Var loss(Tape& tape, const Examples& examples) override {
    const LabelledSeriesBatch batch = labelled_batch(data_, examples);
    const Var outputs = model().forward(tape, inputs_.training(model(), batch, examples));
    return learner_.model().loss(outputs, batch.numbers);
  }

  Evaluation evaluate(Tape& tape, const Examples& examples) override {
    const LabelledSeriesBatch batch = labelled_batch(data_, examples);
    const Var outputs = model().forward(tape, batch.series);
    const NumberAnswers answers = learner_.model().answers(outputs.value());
    const std::size_t n = examples.size(), P = answers.quantiles.size() / n;
    NumberErrors errors;
    double within = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double y = batch.numbers[i], *quantiles = answers.quantiles.data() + i * P;
      errors.add(y - answers.expected[i]);
      within += P > 1 && quantiles[0] <= y && y <= quantiles[P - 1];
    }
    Evaluation result{double(learner_.model().loss(outputs, batch.numbers).value()()) * double(n),
                      n,
                      learner_.loss_unit(),
                      {{"squared_error", "squared error", errors.squares},
                       {"absolute_error", "absolute error", errors.absolute}}};
    const std::vector<double> levels = learner_.spec().levels();
    if (P > 1)
      result.measures.push_back({"coverage",
                                 fmt::format("within {} to {}", levels.front(), levels.back()),
                                 within, true});
    return result;
  }

  void fit_errors() override {
    const LabelledSeriesBatch held = labelled_batch(data_, Split::validation);
    learner_.model().fit_errors(outputs_of(model(), held.series), held.numbers);
  }

  NamedArrays arrays(const Examples& examples) override {
    const LabelledSeriesBatch batch = labelled_batch(data_, examples);
    Tape tape({.recording = false});
    const SeriesTokens tokens = inputs_.training(model(), batch, examples);
    NamedArrays all = arrays_of(tokens, model().forward(tape, tokens));
    Tensor numbers = uninitialized({examples.size()});
    std::ranges::copy(batch.numbers, numbers.begin());
    all.emplace_back("targets", array_of(numbers));
    return all;
  }

  /// Judges by the root mean square error, or the absolute error where the loss is one.
  Verdict verdict(const HeldOut& held) override {
    const TakenBatches taken = held.taken(data_);
    if (taken.count == 0) return {};
    std::vector<double> truth;
    for (std::uint64_t k = 0; k < taken.count; ++k) {
      const Examples part = data_.part(held.split, taken.index(k), held.batch);
      const std::vector<double> more = labelled_batch(data_, part).numbers;
      truth.insert(truth.end(), more.begin(), more.end());
    }
    const std::vector<double> seen = labelled_batch(data_, Split::train).numbers;
    const Evaluation result = held.evaluate(*this);
    const double rmse = std::sqrt(result.mean("squared_error")),
                 mae = result.mean("absolute_error"),
                 of_mean = errors_of(truth, mean_of(seen)).rmse(),
                 of_median = errors_of(truth, median(seen)).mae();
    const std::string data = format_number_of(result.terms, "held-out example");
    Verdict verdict;
    if (learner_.spec().loss.kind == "mae" || learner_.spec().predicts_quantiles()) {
      verdict = {"MAE", data, mae, {{"median", of_median}}};
      verdict.remark = fmt::format("RMSE {:.4g}, of the mean {:.4g}", rmse, of_mean);
    } else {
      verdict = {"RMSE", data, rmse, {{"mean", of_mean}}};
      verdict.remark = fmt::format("MAE {:.4g}, of the median {:.4g}", mae, of_median);
    }
    return verdict;
  }

  void illustrate(Page& page) override {
    const Split split = held_out_examples(data_, 1, 0).split;
    const LabelledSeriesBatch some = labelled_batch(data_, split);
    if (some.series.empty()) return;
    add_number_answers(page, learner_.answer(some.series).expected, some.numbers);
  }

 private:
  SeriesModel& model() { return learner_.model().series(); }

  LabelledSeries data_;
  SeriesNumberLearner learner_;
  SeriesInputs inputs_;
};

LabelledSeriesFacts assumed_number_facts(const Config&) { return {}; }

void check_regression(const Config& config) {
  if (config.text("data.labels") != "numbers")
    fail(config, "data.labels", "must be \"numbers\" with " + assignment(config, "model.kind"),
         "model.kind");
  check_quantiles(config);
}

}  // namespace

void add_series_number_kinds(TaskKinds& kinds) {
  const ModelRows add{kinds, "regressor", open_as<SeriesNumberTask>,
                      learn_as<SeriesNumberLearner, assumed_number_facts>};
  add("labelled_series", validation_fraction, check_regression, labelled_series_options);
}

}  // namespace bochner
