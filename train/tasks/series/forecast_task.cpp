#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/ops/loss.hpp>
#include <bochner/base/errors.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <bochner/data/series/series_windows.hpp>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/arrays.hpp>
#include <bochner/train/tasks/config_templates/templates.hpp>
#include <bochner/train/tasks/init_from_data.hpp>
#include <bochner/train/tasks/series/forecast_learner.hpp>
#include <bochner/train/tasks/series/rolling_origins.hpp>
#include <bochner/train/tasks/series/row_coverage.hpp>
#include <bochner/train/tasks/series/series_data.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <cmath>
#include <numeric>

namespace bochner {
namespace {

constexpr double forecast_width = 380;  // of a chart
constexpr std::size_t shown_windows = 3, shown_variates = 3, error_batch = 64;

/// Returns a curve of values at the times from number `first`.
Curve curve_at(const std::vector<double>& times, std::size_t first, std::vector<double> values) {
  const auto from = times.begin() + std::ptrdiff_t(first);
  return {{from, from + std::ptrdiff_t(values.size())}, std::move(values)};
}

/// Returns a curve of values at the rows first, first + 1, ...
Curve curve_from(std::ptrdiff_t first, const std::vector<double>& values) {
  std::vector<double> rows(values.size());
  std::iota(rows.begin(), rows.end(), double(first));
  return {rows, values};
}

/// One variate of a window: the rows seen, then the truth and its forecast, at these times.
struct ForecastPicture {
  std::string title;
  Axis axis;
  std::vector<double> times, seen, truth, forecast;
  std::vector<double> low = {}, high = {};  ///< the outer quantiles, if there are any
};
std::string forecast_chart(const ForecastPicture& picture) {
  Chart chart{.title = picture.title, .x = picture.axis, .width = forecast_width, .height = 240};
  const std::size_t seen = picture.seen.size();
  chart.add("seen", curve_at(picture.times, 0, picture.seen), Mark::line, 7);
  chart.add("truth", curve_at(picture.times, seen, picture.truth), Mark::line, 0);
  chart.add("forecast", curve_at(picture.times, seen, picture.forecast), Mark::line, 1);
  chart.series.back().low = picture.low;
  chart.series.back().high = picture.high;
  return draw(chart);
}

/// Mean errors at each row of the horizon, in the unit of the training data. (H), (H)
struct HorizonErrors {
  std::string name;
  std::vector<double> squared, absolute;
};
/// Draws one kind of error by row of the horizon, the last forecast dashed.
std::string error_chart(const char* title, const std::vector<HorizonErrors>& forecasts,
                        std::vector<double> HorizonErrors::*error) {
  Chart chart{.title = title, .x = {"row of the horizon"}, .y = {"", Scale::linear, 0.0}};
  for (const HorizonErrors& forecast : forecasts)
    chart.add(forecast.name, curve_from(1, forecast.*error));
  chart.series.back().mark = Mark::dashed;
  return draw(chart);
}

/// Returns variate v of window 0 of (B, V, n), from element `first`. (n - first)
std::vector<double> variate(const Tensor& x, std::size_t v, std::size_t first = 0) {
  const real* row = x.data() + v * x.shape()[2];
  return std::vector<double>(row + first, row + x.shape()[2]);
}

/// Counts the values within the outer quantiles. (B, V, H, Q), (B, V, H)
std::size_t count_within(const Tensor& quantiles, const Tensor& truth) {
  const std::size_t Q = quantiles.size() / std::max<std::size_t>(1, truth.size());
  std::size_t within = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const real* row = quantiles.data() + i * Q;
    within += row[0] <= truth.data()[i] && truth.data()[i] <= row[Q - 1];
  }
  return within;
}

/// Returns output q of variate v of window 0. (1, V, H, Q) -> (H)
std::vector<double> output_of(const Tensor& outputs, std::size_t v, std::size_t q) {
  const std::size_t H = outputs.shape()[2], Q = outputs.shape()[3];
  std::vector<double> values;
  for (std::size_t h = 0; h < H; ++h) values.push_back(double(outputs.data()[(v * H + h) * Q + q]));
  return values;
}

/// Adds the errors at each row of the horizon. (B, V, H), (B, V, H)
void add_errors(HorizonErrors& errors, const Tensor& forecast, const Tensor& truth) {
  const std::size_t H = errors.squared.size();
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double error = double(forecast.data()[i]) - double(truth.data()[i]);
    errors.squared[i % H] += error * error;
    errors.absolute[i % H] += std::abs(error);
  }
}

/// Repeats the last row of each window H times. (B, V, L) -> (B, V, H)
Tensor persistence(const Tensor& past, std::size_t H) {
  const std::size_t L = past.shape()[2];
  Tensor forecast = uninitialized({past.shape()[0], past.shape()[1], H});
  for (std::size_t i = 0; i < forecast.size(); ++i)
    forecast.data()[i] = past.data()[i / H * L + L - 1];
  return forecast;
}

/// Trains a forecaster on windows of multivariate series.
class ForecastTask : public Task, public Backtests, public HasUnits, public Calibrates {
 public:
  ForecastTask(const Config& config, const KnownFacts& known)
      : ForecastTask(config, read_series(config, known), known) {}

  void start() override {
    if (!spec().predicts_quantiles()) return;
    const SeriesBatch batch = batch_of(spread_windows());
    forecaster().start_quantiles(batch.past, batch.future);
  }

  Learner& learner() override { return learner_; }
  const Dataset& data() const override { return windows_; }
  TaskAbilities abilities() override {
    return {.backtests = this, .units = this, .calibrates = this};
  }

  std::vector<std::string> shifted_columns() override {
    const Standardize& unit = forecaster().standardize();
    const SeriesMoments here = windows_.moments();
    std::vector<std::string> columns;
    for (std::size_t series = 0; series < windows_.count(); ++series)
      for (std::size_t v = 0; v < spec().variates; ++v)
        columns.push_back(variate_name(windows_.series(series), v));
    return find_shifted(columns, {unit.means(), unit.deviations()}, {here.mean, here.deviation});
  }

  Var loss(Tape& tape, const Examples& examples) override {
    const SeriesBatch batch = batch_of(examples);
    return forecaster().loss(forecaster().forward(tape, tape.constant(batch.past), rows_of(batch)),
                             batch.future);
  }

  Evaluation evaluate(Tape& tape, const Examples& examples) override {
    const SeriesBatch batch = batch_of(examples);
    const Var forecast = forecaster().forward(tape, tape.constant(batch.past), rows_of(batch));
    const std::uint64_t terms = batch.future.size();
    const auto sum = [&](const Var& mean) { return double(mean.value()()) * double(terms); };
    const Var point =
        spec().predicts_quantiles() ? Var(learner_.point_of(forecast.value())) : forecast;
    Evaluation result{sum(forecaster().loss(forecast, batch.future)),
                      terms,
                      learner_.loss_unit(),
                      {{"mse", "mse", sum(mean_squared_error(point, batch.future))},
                       {"mae", "mae", sum(mean_absolute_error(point, batch.future))}}};
    if (spec().predicts_quantiles())
      result.measures.push_back(
          {"coverage",
           fmt::format("within {} to {}", spec().quantiles.front(), spec().quantiles.back()),
           double(count_within(forecast.value(), batch.future)), true});
    return result;
  }

  NamedArrays arrays(const Examples& examples) override {
    const SeriesBatch batch = batch_of(examples);
    Tape tape({.recording = false});
    const Var forecast = forecaster().forward(tape, tape.constant(batch.past), rows_of(batch));
    NamedArrays all{{"past", array_of(batch.past)},
                    {"targets", array_of(batch.future)},
                    {"outputs", array_of(forecast.value())}};
    if (forecaster().time_scale()) all.emplace_back("times", array_of(batch.times));
    if (spec().covariates > 0) all.emplace_back("covariates", array_of(batch.covariates));
    if (spec().series > 1)
      all.emplace_back("series", array_of(batch.series, {batch.series.size()}));
    return all;
  }

  std::optional<Backtest> backtest(const BacktestPlan& plan) override {
    if (windows_.examples(plan.split) == 0) return std::nullopt;
    RollingOrigins origins(windows_, plan, forecaster().standardize().deviations(),
                           learner_.levels());
    for (std::size_t first = 0; first < origins.size(); first += error_batch) {
      const SeriesBatch batch = windows_.batch(origins.examples(first, error_batch));
      origins.add(first, learner_.forecast_in_unit(batch.past, rows_of(batch)));
    }
    return origins.result();
  }

  Calibration calibrate() override { return calibrate_rows(windows_, learner_); }
  CoverageReport coverage(const Calibration& calibration, Split split, double level,
                          std::size_t stride) override {
    return row_coverage(calibration, windows_, split, level, stride, learner_);
  }

  /// Compares mean absolute errors at all origins a horizon apart.
  Verdict verdict(const HeldOut& held) override {
    const auto result = backtest({held.split});
    return result ? backtest_verdict(*result) : Verdict();
  }

  /// Draws some windows in the unit of the data, then the errors of the forecast and of the last
  /// value by row of the horizon, over all windows.
  void illustrate(Page& page) override {
    const Split split = windows_.examples(Split::test) > 0 ? Split::test : Split::validation;
    const std::size_t count = windows_.examples(split);
    if (count == 0) return;
    page.section("Forecasts",
                 fmt::format("Windows of the {} split, in the unit of the data.", name_of(split)));
    for (const std::size_t window : evenly_spaced(count, shown_windows))
      page.charts(window_charts(split, window), card_width(forecast_width));
    page.section(
        "Errors by row of the horizon",
        fmt::format("Over all {} windows of the {} split, in the unit of the training data.", count,
                    name_of(split)));
    const std::vector<HorizonErrors> errors = horizon_errors(split);
    page.charts({error_chart("Mean squared error", errors, &HorizonErrors::squared),
                 error_chart("Mean absolute error", errors, &HorizonErrors::absolute)});
  }

 private:
  ForecastTask(const Config& config, SeriesTable table, const KnownFacts& known)
      : windows_(std::move(table.series), series_spec(config)),
        learner_(config, series_facts(config, table, windows_, known)) {
    const SeriesMoments moments = windows_.moments();
    forecaster().standardize().set(moments.mean, moments.deviation);
    if (Standardize* unit = forecaster().covariate_unit()) {
      const SeriesMoments of_covariates = windows_.covariate_moments();
      unit->set(of_covariates.mean, of_covariates.deviation);
    }
    if (TimeScale* scale = forecaster().time_scale())
      fit_times(forecaster(), *scale, spec().time, windows_.batch(scale_examples(windows_)).times,
                config.count("train.seed"));
  }
  Forecaster& forecaster() { return learner_.model(); }
  const ForecasterSpec& spec() const { return learner_.spec(); }

  /// Returns examples in the unit of the training data.
  SeriesBatch batch_of(const Examples& examples) {
    return learner_.standardized(windows_.batch(examples));
  }

  /// Returns training windows in order of time, evenly spread, of some thousand rows in all.
  Examples spread_windows() const {
    constexpr std::size_t most_rows = 8192;
    Examples examples{Split::train, {}};
    for (const std::size_t index :
         evenly_spaced(windows_.examples(Split::train),
                       std::max<std::size_t>(64, most_rows / spec().variates)))
      examples.numbers.push_back({index});
    return examples;
  }

  /// Draws some variates of one window.
  std::vector<std::string> window_charts(Split split, std::size_t window) {
    const SeriesBatch batch = windows_.batch(windows_.in_order(split, window, 1));
    const Tensor outputs = learner_.forecast_in_unit(batch.past, rows_of(batch)),
                 future = learner_.point_of(outputs);
    const std::size_t first = spec().lookback - std::min(spec().lookback, 2 * spec().horizon);
    const auto [number, row] = windows_.place(split, window);
    const TimeSeries& series = windows_.series(number);
    const auto& all = series.times;
    std::vector<double> times;
    for (std::size_t i = 0; i < spec().lookback - first + spec().horizon; ++i)
      times.push_back(all.empty() ? double(i) - double(spec().lookback - first) + 1
                                  : all[row - (spec().lookback - first) + i]);
    const Axis axis = all.empty()           ? Axis{"rows after the last one seen"}
                      : series.numeric_time ? Axis{"time"}
                                            : Axis{"", Scale::time};
    const std::string from =
        all.empty() ? fmt::format("row {}", row + 1) : series.time_text(all[row]);
    std::vector<std::string> charts;
    for (const std::size_t v : evenly_spaced(spec().variates, shown_variates)) {
      ForecastPicture picture{fmt::format("{} from {}", variate_name(series, v), from),
                              axis,
                              times,
                              variate(batch.past, v, first),
                              variate(batch.future, v),
                              variate(future, v)};
      if (spec().predicts_quantiles()) {
        picture.low = output_of(outputs, v, 0);
        picture.high = output_of(outputs, v, spec().quantiles.size() - 1);
      }
      charts.push_back(forecast_chart(picture));
    }
    return charts;
  }

  std::vector<HorizonErrors> horizon_errors(Split split) {
    const std::vector<double> none(spec().horizon, 0.0);
    std::vector<HorizonErrors> errors = {{"forecast", none, none}, {"last value", none, none}};
    for (std::uint64_t index = 0; index < windows_.batches(split, error_batch); ++index) {
      const SeriesBatch batch = batch_of(windows_.part(split, index, error_batch));
      add_errors(errors[0], learner_.point_of(learner_.forecast(batch.past, rows_of(batch))),
                 batch.future);
      add_errors(errors[1], persistence(batch.past, spec().horizon), batch.future);
    }
    const auto count = double(windows_.examples(split) * spec().variates);
    for (HorizonErrors& each : errors)
      for (std::vector<double>* sums : {&each.squared, &each.absolute})
        for (double& sum : *sums) sum /= count;
    return errors;
  }

  SeriesWindows windows_;
  ForecastLearner learner_;
};

}  // namespace

const char forecaster_template[] =
    R"(# A forecaster of the next rows of a table. See docs/forecasting.md.

[model]
kind = "forecaster"
backbone = {backbone}
instance_norm = "last"        # subtracts the last value of each window
loss = "mse"                  # or mae, huber, quantile (see model.quantiles)

[data]
kind = "series"
files = [{files}]
{columns}lookback = {lookback}                 # input rows
horizon = {horizon}                  # rows to forecast
# calendar = ["hour", "weekday", "month"]   # covariates; also: known, static
splits = [0.7, 0.1, 0.2]      # training, validation, test, in this order
)";

void add_series_kinds(TaskKinds& kinds) {
  const ModelRows add{kinds, "forecaster", open_as<ForecastTask>,
                      learn_as<ForecastLearner, smallest_series_facts>};
  add("series", validation_splits, check_series, series_options);
}

}  // namespace bochner
