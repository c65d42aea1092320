#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/ops/loss.hpp>
#include <bochner/data/files/errors.hpp>
#include <bochner/data/files/glob.hpp>
#include <bochner/layers/models/forecaster.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/train/tasks/data_kinds.hpp>
#include <bochner/train/tasks/forecast_report.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/task.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

TimeSeries read_series(const Config& config) {
  const auto files = expand_files(config.text_list("data.files"), std::filesystem::current_path());
  if (files.size() != 1)
    throw DataError(fmt::format("data.files: a series is one file, these are {}", files.size()));
  return time_series(read_array(files[0], table_options(config)), config.text_list("data.columns"));
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
  complete(spec.stack, config, spec.patches());
  return spec;
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

/// A row for each step, (1, V, H) -> (H, V), behind the times that follow those of the input.
NamedArray future_table(const TimeSeries& series, const NamedArray& input, const Tensor& future) {
  const std::size_t V = future.shape()[1], H = future.shape()[2];
  const std::size_t first = series.times.empty() ? 0 : 1;
  NamedArray table;
  table.values.resize({H, first + V});
  for (std::size_t h = 0; h < H; ++h) {
    if (first > 0) table.values(h, 0) = series.times.back() + double(h + 1) * series.time_step();
    for (std::size_t v = 0; v < V; ++v) table.values(h, first + v) = double(future(0, v, h));
  }
  if (first > 0) table.time = 0;
  table.columns = series.names;
  if (first > 0 && !series.names.empty())
    table.columns.insert(table.columns.begin(), input.columns[*input.time]);
  return table;
}

/// What comes after the last rows of a multivariate series.
class ForecastTask : public Task {
 public:
  explicit ForecastTask(const Config& config)
      : windows_(read_series(config), series_spec(config)),
        spec_(forecaster_spec(config, windows_.series().variates())),
        model_(spec_) {
    initialize(model_, config.count("train.seed"));
    const SeriesMoments moments = windows_.moments();
    model_.standardize().set(moments.mean, moments.deviation);
  }

  Module& model() override { return model_; }
  const Dataset& data() const override { return windows_; }
  std::vector<std::string> input_columns() const override { return windows_.series().names; }
  std::string loss_unit() const override { return spec_.loss; }

  Var loss(Tape& tape, const Examples& examples) override {
    const SeriesBatch batch = batch_of(examples);
    return model_.loss(model_.forward(tape, tape.constant(batch.past)), batch.future);
  }

  Evaluation evaluate(Tape& tape, const Examples& examples) override {
    const SeriesBatch batch = batch_of(examples);
    const Var forecast = model_.forward(tape, tape.constant(batch.past));
    const std::uint64_t terms = batch.future.size();
    const auto sum = [&](const Var& mean) { return double(mean.value()()) * double(terms); };
    return {sum(model_.loss(forecast, batch.future)),
            terms,
            loss_unit(),
            {{"mse", "mse", sum(mean_squared_error(forecast, batch.future))},
             {"mae", "mae", sum(mean_absolute_error(forecast, batch.future))}}};
  }

  /// The rows after the last: (rows >= L, columns) -> (H, V), behind a column of times where the
  /// input has one.
  NamedArray predict(const NamedArray& input) override {
    const std::vector<std::string>& names = windows_.series().names;
    const bool by_name = !input.columns.empty() && !names.empty();
    const TimeSeries series = time_series(input, by_name ? names : std::vector<std::string>{});
    if (series.variates() != spec_.variates)
      throw DataError(fmt::format("the input has {} variates, the model forecasts {}",
                                  series.variates(), spec_.variates));
    if (series.rows() < spec_.lookback)
      throw DataError(fmt::format("the input has {} rows, the model looks back over {}",
                                  series.rows(), spec_.lookback));
    Tensor past = last_rows(series, spec_.lookback);
    model_.standardize().apply(past);
    Tensor future = forecast(past);
    model_.standardize().undo(future);
    return future_table(series, input, future);
  }

  void illustrate(Page& page) override {
    const Split split = windows_.examples(Split::test) > 0 ? Split::test : Split::validation;
    if (windows_.examples(split) > 0)
      add_forecasts(page, windows_, split, model_.standardize(),
                    [this](const Tensor& past) { return forecast(past); });
  }

  std::string describe_model() const override {
    const std::string unit =
        spec_.instance_norm.kind == "none" ? "" : ", " + spec_.instance_norm.kind;
    const std::string backbone =
        spec_.backbone == "linear"
            ? fmt::format("linear{}{}", spec_.per_variate ? " per variate" : "",
                          spec_.moving_average > 0 ? ", trend apart" : "")
            : fmt::format("{}, {} patches", describe_stack(spec_.stack), spec_.patches());
    return fmt::format("forecaster, {}{}, {} from {} rows", backbone, unit, spec_.horizon,
                       spec_.lookback);
  }

 private:
  /// Windows in the unit of the training data.
  SeriesBatch batch_of(const Examples& examples) {
    SeriesBatch batch = windows_.batch(examples);
    model_.standardize().apply(batch.past);
    model_.standardize().apply(batch.future);
    return batch;
  }

  /// (B, V, L) in the unit of the training data -> (B, V, H) in the same
  Tensor forecast(const Tensor& past) {
    Tape tape;
    tape.recording = false;
    return model_.forward(tape, tape.view(past)).value();
  }

  SeriesWindows windows_;
  ForecasterSpec spec_;
  Forecaster model_;
};

}  // namespace

std::unique_ptr<Task> make_forecast_task(const Config& config) {
  return std::make_unique<ForecastTask>(config);
}

}  // namespace bochner::inline BOCHNER_PRECISION
