#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bochner/autodiff/ops/loss.hpp>
#include <bochner/base/errors.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <bochner/data/series/series_windows.hpp>
#include <bochner/layers/models/forecaster.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/arrays.hpp>
#include <bochner/train/tasks/distribution_shift.hpp>
#include <bochner/train/tasks/fit_time_scale.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/series/forecast_pictures.hpp>
#include <bochner/train/tasks/series/forecast_requests.hpp>
#include <bochner/train/tasks/series/rolling_origins.hpp>
#include <bochner/train/tasks/series/series_data.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <cmath>

namespace bochner {
namespace {

constexpr std::size_t shown_windows = 3, shown_variates = 3, error_batch = 64;

SeriesSpec series_spec(const Config& config) {
  auto spec = read_spec<SeriesSpec>(config, "data");
  spec.seed = config.count("train.seed");
  return spec;
}

ForecasterSpec forecaster_spec(const Config& config, std::size_t variates, std::size_t series,
                               std::size_t covariates) {
  auto spec = read_spec<ForecasterSpec>(config, "model");
  spec.variates = variates;
  spec.series = series;
  spec.covariates = covariates;
  spec.lookback = config.count("data.lookback");
  spec.horizon = config.count("data.horizon");
  spec.regular = !config.flag("data.stamps");
  complete(spec.time.density, config);
  complete(spec.stack, config,
           spec.backbone == "rows" ? spec.lookback + spec.horizon : spec.patches());
  return spec;
}

/// `count` of n things, spread evenly with both ends, or all of them.
std::vector<std::size_t> spread(std::size_t n, std::size_t count) {
  count = std::min(n, count);
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < count; ++i)
    chosen.push_back(count == 1 ? 0 : i * (n - 1) / (count - 1));
  return chosen;
}

/// Elements of variate v of window 0 of (B, V, n), from `first` on.
std::vector<double> variate(const Tensor& x, std::size_t v, std::size_t first = 0) {
  const real* row = x.data() + v * x.shape()[2];
  return std::vector<double>(row + first, row + x.shape()[2]);
}

/// The output that is nearest to a median. (B, V, H, Q) -> (B, V, H)
Tensor middle_output(const Tensor& forecast, const std::vector<double>& levels) {
  const std::size_t Q = levels.size(), middle = median_index(levels);
  Tensor values = uninitialized({forecast.shape()[0], forecast.shape()[1], forecast.shape()[2]});
  for (std::size_t i = 0; i < values.size(); ++i)
    values.data()[i] = forecast.data()[i * Q + middle];
  return values;
}

/// How many of the values are within the outer quantiles. (B, V, H, Q), (B, V, H)
std::size_t count_within(const Tensor& quantiles, const Tensor& truth) {
  const std::size_t Q = quantiles.size() / std::max<std::size_t>(1, truth.size());
  std::size_t within = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const real* row = quantiles.data() + i * Q;
    within += row[0] <= truth.data()[i] && truth.data()[i] <= row[Q - 1];
  }
  return within;
}

/// (1, V, H) or (1, V, H, Q) -> (H, V) or (H, V, Q)
Tensor by_rows(const Tensor& forecast, std::size_t V, std::size_t H) {
  const std::size_t Q = forecast.size() / (V * H);
  Tensor rows = uninitialized({H, V, Q});
  for (std::size_t v = 0; v < V; ++v)
    for (std::size_t h = 0; h < H; ++h)
      std::copy_n(forecast.data() + (v * H + h) * Q, Q, rows.data() + (h * V + v) * Q);
  return rows;
}

/// Output q of variate v of window 0 of (1, V, H, Q).
std::vector<double> output_of(const Tensor& said, std::size_t v, std::size_t q) {
  const std::size_t H = said.shape()[2], Q = said.shape()[3];
  std::vector<double> values;
  for (std::size_t h = 0; h < H; ++h) values.push_back(double(said.data()[(v * H + h) * Q + q]));
  return values;
}

/// Sums of errors at each step of the horizon. (B, V, H), (B, V, H)
void add_errors(HorizonErrors& errors, const Tensor& forecast, const Tensor& truth) {
  const std::size_t H = errors.squared.size();
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double error = double(forecast.data()[i]) - double(truth.data()[i]);
    errors.squared[i % H] += error * error;
    errors.absolute[i % H] += std::abs(error);
  }
}

/// The last row of each window, H times. (B, V, L) -> (B, V, H)
Tensor persistence(const Tensor& past, std::size_t H) {
  const std::size_t L = past.shape()[2];
  Tensor forecast = uninitialized({past.shape()[0], past.shape()[1], H});
  for (std::size_t i = 0; i < forecast.size(); ++i)
    forecast.data()[i] = past.data()[i / H * L + L - 1];
  return forecast;
}

/// What comes after the last rows of a multivariate series.
class ForecastTask : public Task {
 public:
  explicit ForecastTask(const Config& config) : ForecastTask(config, read_series(config)) {}

  ForecastTask(const Config& config, LearnedTable learned)
      : windows_(std::move(learned.series), series_spec(config)),
        spec_(forecaster_spec(config, windows_.series().variates(), windows_.count(),
                              windows_.series().channels())),
        rules_{series_columns(config), std::move(learned.levels),
               carries_forward(config, series_columns(config))},
        time_(std::move(learned.time)),
        model_(spec_) {
    initialize(model_, config.count("train.seed"));
    const SeriesMoments moments = windows_.moments();
    model_.standardize().set(moments.mean, moments.deviation);
    if (Standardize* unit = model_.covariate_unit()) {
      const SeriesMoments of_covariates = windows_.covariate_moments();
      unit->set(of_covariates.mean, of_covariates.deviation);
    }
    if (TimeScale* scale = model_.time_scale())
      fit_times(model_, *scale, spec_.time, windows_.batch(scale_examples(windows_)).times,
                config.count("train.seed"));
  }

  Module& model() override { return model_; }
  const Dataset& data() const override { return windows_; }
  std::vector<std::string> shifted_columns() override {
    const Standardize& unit = model_.standardize();
    const SeriesMoments here = windows_.moments();
    std::vector<std::string> columns;
    for (std::size_t series = 0; series < windows_.count(); ++series)
      for (std::size_t v = 0; v < spec_.variates; ++v) columns.push_back(variate_name(series, v));
    return find_shifted(columns, {unit.means(), unit.deviations()}, {here.mean, here.deviation});
  }
  Vocabularies names() const override {
    Vocabularies names = windows_.names();
    names.levels = flattened_levels(rules_.levels);
    names.time = time_;
    return names;
  }
  std::vector<std::string> input_columns() const override {
    std::vector<std::string> columns = windows_.series().names;
    const std::vector<std::string> others = rules_.columns.others();
    if (!columns.empty()) columns.insert(columns.end(), others.begin(), others.end());
    return columns;
  }
  std::string loss_unit() const override {
    return spec_.predicts_quantiles() ? "pinball" : spec_.loss;
  }

  Var loss(Tape& tape, const Examples& examples) override {
    const SeriesBatch batch = batch_of(examples);
    return model_.loss(model_.forward(tape, tape.constant(batch.past), facts_of(batch)),
                       batch.future);
  }

  Evaluation evaluate(Tape& tape, const Examples& examples) override {
    const SeriesBatch batch = batch_of(examples);
    const Var forecast = model_.forward(tape, tape.constant(batch.past), facts_of(batch));
    const std::uint64_t terms = batch.future.size();
    const auto sum = [&](const Var& mean) { return double(mean.value()()) * double(terms); };
    const Var point = spec_.predicts_quantiles() ? Var(point_of(forecast.value())) : forecast;
    Evaluation result{sum(model_.loss(forecast, batch.future)),
                      terms,
                      loss_unit(),
                      {{"mse", "mse", sum(mean_squared_error(point, batch.future))},
                       {"mae", "mae", sum(mean_absolute_error(point, batch.future))}}};
    if (spec_.predicts_quantiles())
      result.measures.push_back(
          {"coverage",
           fmt::format("within {} to {}", spec_.quantiles.front(), spec_.quantiles.back()),
           double(count_within(forecast.value(), batch.future)), true});
    return result;
  }

  NamedArrays arrays(const Examples& examples) override {
    const SeriesBatch batch = batch_of(examples);
    Tape tape({.recording = false});
    const Var forecast = model_.forward(tape, tape.constant(batch.past), facts_of(batch));
    NamedArrays all{{"past", array_of(batch.past)},
                    {"targets", array_of(batch.future)},
                    {"outputs", array_of(forecast.value())}};
    if (model_.time_scale()) all.emplace_back("times", array_of(batch.times));
    if (spec_.covariates > 0) all.emplace_back("covariates", array_of(batch.covariates));
    if (spec_.series > 1) all.emplace_back("series", array_of(batch.series, {batch.series.size()}));
    return all;
  }
  Json sizes() const override {
    const bool rows = spec_.backbone == "rows";
    return Json{{"length", rows ? spec_.lookback + spec_.horizon : spec_.patches()}};
  }

  /// The rows after the last ones of each series, see forecast_requests().
  NamedArray predict(const NamedArray& input) override {
    left_out_.clear();
    const auto requests = forecast_requests(input, rules_, windows_, left_out_);
    std::vector<Tensor> answers;
    for (const ForecastRequest& request : requests)
      answers.push_back(
          by_rows(forecast_in_unit(request.past, request.facts), spec_.variates, spec_.horizon));
    return forecast_table(input, rules_.columns, windows_.series().names, requests, answers,
                          levels());
  }

  std::vector<std::string> notes_on_prediction() const override {
    std::vector<std::string> notes = left_out_;
    const bool dates_are_said = !spec_.regular || !rules_.columns.known.empty();
    if (!dates_are_said && windows_.crosses_pauses())
      notes.push_back(
          fmt::format("dates of the forecast are {} apart, as if rows had no pauses; those that "
                      "the model learned have some that no day or time of the week explains",
                      windows_.series().time_step().words()));
    return notes;
  }

  std::optional<Backtest> backtest(const BacktestPlan& plan) override {
    if (windows_.examples(plan.split) == 0) return std::nullopt;
    RollingOrigins origins(windows_, plan, model_.standardize().deviations(), levels());
    for (std::size_t first = 0; first < origins.size(); first += error_batch) {
      const SeriesBatch batch = windows_.batch(origins.examples(first, error_batch));
      origins.add(first, forecast_in_unit(batch.past, facts_of(batch)));
    }
    return origins.result();
  }

  /// Some windows in the unit of the data, then errors over all of them by row of the horizon, of
  /// the forecast and of the last value.
  void illustrate(Page& page) override {
    const Split split = windows_.examples(Split::test) > 0 ? Split::test : Split::validation;
    const std::size_t count = windows_.examples(split);
    if (count == 0) return;
    page.section("Forecasts",
                 fmt::format("Windows of the {} split, in the unit of the data.", name_of(split)));
    for (const std::size_t window : spread(count, shown_windows))
      page.charts(window_charts(split, window), card_width(forecast_width));
    page.section(
        "Errors by row of the horizon",
        fmt::format("Over all {} windows of the {} split, in the unit of the training data.", count,
                    name_of(split)));
    const std::vector<HorizonErrors> errors = horizon_errors(split);
    page.charts({error_chart("Mean squared error", errors, &HorizonErrors::squared),
                 error_chart("Mean absolute error", errors, &HorizonErrors::absolute)});
  }

  std::string describe_model() const override {
    const std::string unit =
        spec_.instance_norm.kind == "none" ? "" : ", " + spec_.instance_norm.kind;
    const std::string backbone =
        spec_.backbone == "linear"
            ? fmt::format("linear{}{}", spec_.per_variate ? " per variate" : "",
                          spec_.moving_average > 0 ? ", trend apart" : "")
        : spec_.backbone == "rows"
            ? fmt::format("{}, positions {}, time {}", describe_stack(spec_.stack),
                          spec_.stack.positions, describe_time(spec_.time))
            : fmt::format("{}, {} patches", describe_stack(spec_.stack), spec_.patches());
    const std::string quantiles =
        spec_.predicts_quantiles() ? fmt::format(", quantiles {}", fmt::join(spec_.quantiles, ", "))
                                   : "";
    const std::string effects =
        spec_.context() > 0 ? fmt::format(", effects of {}", spec_.context()) : "";
    return fmt::format("forecaster, {}{}{}{}, {} from {} rows", backbone, unit, effects, quantiles,
                       spec_.horizon, spec_.lookback);
  }

 private:
  /// For people, with the series where there are several.
  std::string variate_name(std::size_t number, std::size_t v) const {
    const TimeSeries& series = windows_.series(number);
    return (series.names.empty() ? fmt::format("variate {}", v + 1) : series.names[v]) +
           (series.id.empty() ? "" : " of " + words_of(series.id));
  }
  /// Of the quantiles, if such are said.
  std::vector<double> levels() const {
    return spec_.predicts_quantiles() ? spec_.quantiles : std::vector<double>{};
  }
  /// One number for each value. (B, V, H) or (B, V, H, Q) -> (B, V, H)
  Tensor point_of(const Tensor& forecast) const {
    return spec_.predicts_quantiles() ? middle_output(forecast, spec_.quantiles) : forecast;
  }
  static RowFacts facts_of(const SeriesBatch& batch) {
    return {batch.times, batch.covariates, batch.series};
  }

  /// Windows in the unit of the training data.
  SeriesBatch batch_of(const Examples& examples) {
    SeriesBatch batch = windows_.batch(examples);
    model_.standardize().apply(batch.past, batch.series);
    model_.standardize().apply(batch.future, batch.series);
    return batch;
  }

  /// (B, V, L) in the unit of the training data -> (B, V, H) or (B, V, H, Q) in the same
  Tensor forecast(const Tensor& past, const RowFacts& facts) {
    Tape tape({.recording = false});
    return model_.forward(tape, tape.view(past), facts).value();
  }

  /// The same in the unit of the data.
  Tensor forecast_in_unit(Tensor past, const RowFacts& facts) {
    model_.standardize().apply(past, facts.series);
    Tensor future = forecast(past, facts);
    model_.standardize().undo(future, facts.series);
    return future;
  }

  /// Some variates of one window.
  std::vector<std::string> window_charts(Split split, std::size_t window) {
    const SeriesBatch batch = windows_.batch(windows_.in_order(split, window, 1));
    const Tensor said = forecast_in_unit(batch.past, facts_of(batch)), future = point_of(said);
    const std::size_t first = spec_.lookback - std::min(spec_.lookback, 2 * spec_.horizon);
    const auto [number, row] = windows_.place(split, window);
    const TimeSeries& series = windows_.series(number);
    const auto& all = series.times;
    std::vector<double> times;
    for (std::size_t i = 0; i < spec_.lookback - first + spec_.horizon; ++i)
      times.push_back(all.empty() ? double(i) - double(spec_.lookback - first) + 1
                                  : all[row - (spec_.lookback - first) + i]);
    const Axis axis = all.empty() ? Axis{"rows after the last one seen"} : Axis{"", Scale::time};
    const std::string from = all.empty() ? fmt::format("row {}", row + 1) : format_time(all[row]);
    std::vector<std::string> charts;
    for (const std::size_t v : spread(spec_.variates, shown_variates)) {
      ForecastPicture picture{fmt::format("{} from {}", variate_name(number, v), from),
                              axis,
                              times,
                              variate(batch.past, v, first),
                              variate(batch.future, v),
                              variate(future, v)};
      if (spec_.predicts_quantiles()) {
        picture.low = output_of(said, v, 0);
        picture.high = output_of(said, v, spec_.quantiles.size() - 1);
      }
      charts.push_back(forecast_chart(picture));
    }
    return charts;
  }

  std::vector<HorizonErrors> horizon_errors(Split split) {
    const std::vector<double> none(spec_.horizon, 0.0);
    std::vector<HorizonErrors> errors = {{"forecast", none, none}, {"last value", none, none}};
    for (std::uint64_t index = 0; index < windows_.batches(split, error_batch); ++index) {
      const SeriesBatch batch = batch_of(windows_.part(split, index, error_batch));
      add_errors(errors[0], point_of(forecast(batch.past, facts_of(batch))), batch.future);
      add_errors(errors[1], persistence(batch.past, spec_.horizon), batch.future);
    }
    const auto count = double(windows_.examples(split) * spec_.variates);
    for (HorizonErrors& each : errors)
      for (std::vector<double>* sums : {&each.squared, &each.absolute})
        for (double& sum : *sums) sum /= count;
    return errors;
  }

  SeriesWindows windows_;
  ForecasterSpec spec_;
  RequestRules rules_;
  std::vector<std::string> time_;      // Vocabularies::time
  std::vector<std::string> left_out_;  // of the last answer
  Forecaster model_;
};

}  // namespace

std::unique_ptr<Task> make_forecast_task(const Config& config) {
  return std::make_unique<ForecastTask>(config);
}

std::unique_ptr<Module> stand_in_forecaster(const Config& config) {
  const bool context =
      std::ranges::any_of(std::array{"data.known", "data.static", "data.calendar"},
                          [&](const char* key) { return !config.text_list(key).empty(); });
  return std::make_unique<Forecaster>(forecaster_spec(config, 1, 1, context));
}

}  // namespace bochner
