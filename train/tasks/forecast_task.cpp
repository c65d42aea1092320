#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/ops/loss.hpp>
#include <bochner/data/files/errors.hpp>
#include <bochner/data/files/glob.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <bochner/data/series_windows.hpp>
#include <bochner/layers/models/forecaster.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/arrays.hpp>
#include <bochner/train/tasks/data_kinds.hpp>
#include <bochner/train/tasks/forecast_pictures.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/time_fit.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t shown_windows = 3, shown_variates = 3, error_batch = 64;

TimeSeries read_series(const Config& config) {
  const auto files = expand_files(config.text_list("data.files"), std::filesystem::current_path());
  if (files.size() != 1)
    throw DataError("data.files: a series is one file, these are ", files.size());
  const NamedArray table = read_array(files[0], table_options(config));
  try {
    return time_series(table, config.text_list("data.columns"));
  } catch (const DataError& error) {
    throw DataError(files[0].string(), ": ", error.what());
  }
}

SeriesSpec series_spec(const Config& config) {
  auto spec = read_spec<SeriesSpec>(config, "data");
  spec.seed = config.count("train.seed");
  return spec;
}

ForecasterSpec forecaster_spec(const Config& config, std::size_t variates) {
  auto spec = read_spec<ForecasterSpec>(config, "model");
  spec.variates = variates;
  spec.lookback = config.count("data.lookback");
  spec.horizon = config.count("data.horizon");
  spec.regular = !config.flag("data.stamps");
  complete(spec.time.density, config);
  complete(spec.stack, config,
           spec.backbone == "rows" ? spec.lookback + spec.horizon : spec.patches());
  return spec;
}

/// Rows at the end that have a time and no values: they are asked for.
std::size_t rows_asked_for(const NamedArray& table) {
  if (table.values.dimension() != 2 || !table.time) return 0;
  const std::size_t rows = table.values.shape()[0], columns = table.values.shape()[1];
  const auto has_values = [&](std::size_t row) {
    for (std::size_t i = 0; i < columns; ++i)
      if (i != *table.time && !std::isnan(table.values(row, i))) return true;
    return false;
  };
  std::size_t asked = 0;
  while (asked < rows && !has_values(rows - 1 - asked)) ++asked;
  return asked;
}

NamedArray first_rows(const NamedArray& table, std::size_t rows) {
  NamedArray first{{}, table.columns, table.time};
  const std::size_t columns = table.values.shape()[1];
  first.values.resize({rows, columns});
  std::copy_n(table.values.data(), rows * columns, first.values.data());
  return first;
}

/// Missing values become those of the row before.
void carry_forward(NamedArray& table) {
  if (table.values.dimension() != 2) return;
  double* values = table.values.data();
  for (std::size_t i = table.values.shape()[1]; i < table.values.size(); ++i)
    if (std::isnan(values[i])) values[i] = values[i - table.values.shape()[1]];
}

/// When the H rows behind a series are: at the times of the last `asked` rows of its table, then on
/// step by step. Empty without times.
std::vector<double> times_to_come(const TimeSeries& series, const TimeStep& step,
                                  const NamedArray& table, std::size_t asked, std::size_t H) {
  std::vector<double> times;
  if (series.times.empty()) return times;
  double last = series.times.back();
  for (std::size_t row = series.rows(); times.size() < std::min(asked, H); ++row) {
    times.push_back(table.values(row, *table.time));
    if (!(times.back() > last))
      throw DataError("row ", row + 1, ": time must go on from row to row; sort the rows");
    last = times.back();
  }
  for (std::size_t count = 1; times.size() < H; ++count) times.push_back(step.after(last, count));
  return times;
}

/// Times (1, L + H) of the last L rows and of those to come: stamps, or 0, 1, 2, ...
Times window_times(const TimeSeries& series, const std::vector<double>& coming,
                   const SeriesSpec& spec) {
  const std::size_t L = spec.lookback, H = spec.horizon;
  if (spec.stamps && series.times.empty())
    throw DataError("the model sees time stamps; the input has no column of them");
  Times times(std::vector<std::size_t>{1, L + H});
  for (std::size_t i = 0; i < L + H; ++i) {
    if (!spec.stamps)
      times(0, i) = double(i);
    else
      times(0, i) = i < L ? series.times[series.rows() - L + i] : coming[i - L];
  }
  return times;
}

/// (1, V, rows)
Tensor last_rows(const TimeSeries& series, std::size_t rows) {
  Tensor past = uninitialized({1, series.variates(), rows});
  for (std::size_t v = 0; v < series.variates(); ++v) {
    const double* end = series.values.data() + (v + 1) * series.rows();
    std::copy(end - rows, end, past.data() + v * rows);
  }
  return past;
}

/// A row for each of the first `rows` steps, (1, V, H) -> (rows, V), behind its time if there is
/// one.
NamedArray future_table(const TimeSeries& series, const NamedArray& input, const Tensor& future,
                        const std::vector<double>& times, std::size_t rows) {
  const std::size_t V = future.shape()[1], first = times.empty() ? 0 : 1;
  NamedArray table;
  table.values.resize({rows, first + V});
  for (std::size_t h = 0; h < rows; ++h) {
    if (first > 0) table.values(h, 0) = times[h];
    for (std::size_t v = 0; v < V; ++v) table.values(h, first + v) = double(future(0, v, h));
  }
  if (first > 0) table.time = 0;
  table.columns = series.names;
  if (first > 0 && !series.names.empty())
    table.columns.insert(table.columns.begin(), input.columns[*input.time]);
  return table;
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
  explicit ForecastTask(const Config& config)
      : windows_(read_series(config), series_spec(config)),
        spec_(forecaster_spec(config, windows_.series().variates())),
        carries_forward_(config.flag("data.stamps") && config.text("data.missing") == "forward"),
        model_(spec_) {
    initialize(model_, config.count("train.seed"));
    const SeriesMoments moments = windows_.moments();
    model_.standardize().set(moments.mean, moments.deviation);
    if (TimeScale* scale = model_.time_scale())
      fit_times(model_, *scale, spec_.time, windows_.batch(scale_examples(windows_)).times,
                config.count("train.seed"));
  }

  Module& model() override { return model_; }
  const Dataset& data() const override { return windows_; }
  std::vector<std::string> input_columns() const override { return windows_.series().names; }
  std::string loss_unit() const override { return spec_.loss; }

  Var loss(Tape& tape, const Examples& examples) override {
    const SeriesBatch batch = batch_of(examples);
    return model_.loss(model_.forward(tape, tape.constant(batch.past), batch.times), batch.future);
  }

  Evaluation evaluate(Tape& tape, const Examples& examples) override {
    const SeriesBatch batch = batch_of(examples);
    const Var forecast = model_.forward(tape, tape.constant(batch.past), batch.times);
    const std::uint64_t terms = batch.future.size();
    const auto sum = [&](const Var& mean) { return double(mean.value()()) * double(terms); };
    return {sum(model_.loss(forecast, batch.future)),
            terms,
            loss_unit(),
            {{"mse", "mse", sum(mean_squared_error(forecast, batch.future))},
             {"mae", "mae", sum(mean_absolute_error(forecast, batch.future))}}};
  }

  NamedArrays arrays(const Examples& examples) override {
    const SeriesBatch batch = batch_of(examples);
    Tape tape;
    tape.recording = false;
    const Var forecast = model_.forward(tape, tape.constant(batch.past), batch.times);
    NamedArrays all{{"past", array_of(batch.past)},
                    {"targets", array_of(batch.future)},
                    {"outputs", array_of(forecast.value())}};
    if (model_.time_scale()) all.emplace_back("times", array_of(batch.times));
    return all;
  }
  Json sizes() const override {
    const bool rows = spec_.backbone == "rows";
    return Json{{"length", rows ? spec_.lookback + spec_.horizon : spec_.patches()}};
  }

  /// The rows after the last: (rows >= L, columns) -> (H, V), behind a column of times where the
  /// input has one. A model that sees stamps says what is at those of rows without values (NaN), if
  /// the input ends in such; what is missing before them becomes what data.missing says.
  NamedArray predict(const NamedArray& input) override {
    const std::vector<std::string>& names = windows_.series().names;
    const bool by_name = !input.columns.empty() && !names.empty();
    const std::size_t asked = windows_.spec().stamps ? rows_asked_for(input) : 0;
    NamedArray seen = asked > 0 ? first_rows(input, input.values.shape()[0] - asked) : input;
    if (carries_forward_) carry_forward(seen);
    const TimeSeries series = time_series(seen, by_name ? names : std::vector<std::string>{});
    check_input(series, asked);
    const bool tells_step = series.rows() > 2 || windows_.series().times.empty();
    const TimeStep step = (tells_step ? series : windows_.series()).time_step();
    const std::vector<double> coming = times_to_come(series, step, input, asked, spec_.horizon);
    const Tensor future = forecast_in_unit(last_rows(series, spec_.lookback),
                                           window_times(series, coming, windows_.spec()));
    return future_table(series, input, future, coming, asked > 0 ? asked : spec_.horizon);
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
    return fmt::format("forecaster, {}{}, {} from {} rows", backbone, unit, spec_.horizon,
                       spec_.lookback);
  }

 private:
  void check_input(const TimeSeries& series, std::size_t asked) const {
    if (series.variates() != spec_.variates)
      throw DataError("the input has ", series.variates(), " variates, the model forecasts ",
                      spec_.variates);
    if (series.rows() < spec_.lookback)
      throw DataError("the input has ", series.rows(), " rows, the model looks back over ",
                      spec_.lookback);
    if (asked > spec_.horizon)
      throw DataError("the input asks for ", asked, " rows, the model forecasts ", spec_.horizon);
  }

  /// Windows in the unit of the training data.
  SeriesBatch batch_of(const Examples& examples) {
    SeriesBatch batch = windows_.batch(examples);
    model_.standardize().apply(batch.past);
    model_.standardize().apply(batch.future);
    return batch;
  }

  /// (B, V, L) in the unit of the training data -> (B, V, H) in the same
  Tensor forecast(const Tensor& past, const Times& times) {
    Tape tape;
    tape.recording = false;
    return model_.forward(tape, tape.view(past), times).value();
  }

  /// The same in the unit of the data.
  Tensor forecast_in_unit(Tensor past, const Times& times) {
    model_.standardize().apply(past);
    Tensor future = forecast(past, times);
    model_.standardize().undo(future);
    return future;
  }

  /// Some variates of one window.
  std::vector<std::string> window_charts(Split split, std::size_t window) {
    const SeriesBatch batch = windows_.batch(windows_.in_order(split, window, 1));
    const Tensor future = forecast_in_unit(batch.past, batch.times);
    const std::size_t first = spec_.lookback - std::min(spec_.lookback, 2 * spec_.horizon);
    const std::size_t row = windows_.first_predicted(split, window);
    const auto& all = windows_.series().times;
    std::vector<double> times;
    for (std::size_t i = 0; i < spec_.lookback - first + spec_.horizon; ++i)
      times.push_back(all.empty() ? double(i) - double(spec_.lookback - first) + 1
                                  : all[row - (spec_.lookback - first) + i]);
    const Axis axis = all.empty() ? Axis{"rows after the last one seen"} : Axis{"", Scale::time};
    const std::string from = all.empty() ? fmt::format("row {}", row + 1) : format_time(all[row]);
    const std::vector<std::string>& names = windows_.series().names;
    std::vector<std::string> charts;
    for (const std::size_t v : spread(spec_.variates, shown_variates)) {
      const std::string name = names.empty() ? fmt::format("variate {}", v + 1) : names[v];
      charts.push_back(forecast_chart({fmt::format("{} from {}", name, from), axis, times,
                                       variate(batch.past, v, first), variate(batch.future, v),
                                       variate(future, v)}));
    }
    return charts;
  }

  std::vector<HorizonErrors> horizon_errors(Split split) {
    const std::vector<double> none(spec_.horizon, 0.0);
    std::vector<HorizonErrors> errors = {{"forecast", none, none}, {"last value", none, none}};
    for (std::uint64_t index = 0; index < windows_.batches(split, error_batch); ++index) {
      const SeriesBatch batch = batch_of(windows_.part(split, index, error_batch));
      add_errors(errors[0], forecast(batch.past, batch.times), batch.future);
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
  bool carries_forward_;
  Forecaster model_;
};

}  // namespace

std::unique_ptr<Task> make_forecast_task(const Config& config) {
  return std::make_unique<ForecastTask>(config);
}

std::unique_ptr<Module> stand_in_forecaster(const Config& config) {
  return std::make_unique<Forecaster>(forecaster_spec(config, 1));
}

}  // namespace bochner::inline BOCHNER_PRECISION
