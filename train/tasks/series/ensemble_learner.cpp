#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/join.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/series/ensemble_learner.hpp>

namespace bochner {
namespace {

EnsembleSpec ensemble_spec(const Config& config, const SeriesFacts& facts) {
  auto spec = read_spec<EnsembleSpec>(config, "model");
  spec.channels = facts.variates * facts.ids.size();
  spec.lookback = facts.lookback;
  spec.horizon = facts.horizon;
  spec.covariates = facts.channels;
  return spec;
}

/// Adds the rows that are missing before the next value.
void fill_gap(std::vector<double>& values, std::size_t missing, double next, std::size_t season) {
  const double last = values.back();
  for (std::size_t i = 1; i <= missing; ++i) {
    const double line = last + (next - last) * double(i) / double(missing + 1);
    values.push_back(season > 1 && values.size() >= season ? values[values.size() - season] : line);
  }
}

/// Returns the most missing rows between two that are filled in.
std::size_t longest_filled(std::size_t season) {
  constexpr std::size_t seasons_to_fill = 4, rows_to_fill = 24;
  return std::max(seasons_to_fill * season, rows_to_fill);
}

/// Forecasts of a series from all rows before its rows.
class EnsembleForecasts : public RowForecasts {
 public:
  EnsembleForecasts(const EnsembleLearner& learner, const TimeSeries& series, std::size_t number)
      : learner_(learner),
        stepped_(series),
        number_(number),
        first_(learner.first_origin(stepped_, number)) {}

  std::size_t first_origin() const override { return first_; }
  Tensor at(const std::vector<std::size_t>& origins) override {
    const TimeSeries& series = stepped_.series;
    const std::size_t V = series.variates(), H = learner_.spec().horizon;
    Tensor all = uninitialized({origins.size(), V, H});
    parallel_tasks(origins.size(), [&](std::size_t i) {
      const xt::xarray<double> coming = covariates_from(series, origins[i], H);
      for (std::size_t v = 0; v < V; ++v)
        std::ranges::transform(learner_.forecast(stepped_, number_, v, origins[i], coming).mean,
                               all.data() + (i * V + v) * H, [](double x) { return real(x); });
    });
    return all;
  }

 private:
  const EnsembleLearner& learner_;
  SteppedSeries stepped_;
  std::size_t number_, first_;
};

/// Ends of the names of a forecast and its bands of 95 and 80 %.
const std::vector<std::string> band_endings = {"", "_0.025", "_0.1", "_0.9", "_0.975"};

/// Returns forecasts and bands as rows. (H, V, 5)
Tensor band_rows(const std::vector<EnsembleForecast>& forecasts) {
  const std::size_t V = forecasts.size(), H = forecasts[0].mean.size(), Q = band_endings.size();
  Tensor rows = uninitialized({H, V, Q});
  for (std::size_t h = 0; h < H; ++h)
    for (std::size_t v = 0; v < V; ++v) {
      const double mean = forecasts[v].mean[h], inner = forecasts[v].half_widths[0][h],
                   outer = std::max(inner, forecasts[v].half_widths[1][h]);
      const double values[] = {mean, mean - outer, mean - inner, mean + inner, mean + outer};
      std::ranges::transform(values, rows.data() + (h * V + v) * Q,
                             [](double x) { return real(x); });
    }
  return rows;
}

/// Returns forecasts as rows. (H, V, 1)
Tensor mean_rows(const std::vector<EnsembleForecast>& forecasts) {
  const std::size_t V = forecasts.size(), H = forecasts[0].mean.size();
  Tensor rows = uninitialized({H, V, 1});
  for (std::size_t h = 0; h < H; ++h)
    for (std::size_t v = 0; v < V; ++v) rows(h, v, 0) = real(forecasts[v].mean[h]);
  return rows;
}

}  // namespace

SteppedSeries::SteppedSeries(const TimeSeries& of) : series(of), steps(of.rows(), 1) {
  if (series.times.empty()) return;
  const TimeStep step = series.time_step();
  for (std::size_t row = 1; step.is_regular() && row < steps.size(); ++row)
    steps[row] = step.between(series.times[row - 1], series.times[row]);
}

std::vector<double> regular_rows(const SteppedSeries& stepped, std::size_t variate,
                                 std::size_t rows, std::size_t season) {
  const std::size_t most = longest_filled(season);
  std::vector<double> values;
  for (std::size_t row = 0; row < rows; ++row) {
    const double value = stepped.series.values(variate, row);
    const std::size_t steps = stepped.steps[row];
    if (steps > most + 1) values.clear();
    if (steps > 1 && !values.empty()) fill_gap(values, steps - 1, value, season);
    values.push_back(value);
  }
  return values;
}

std::vector<double> regular_covariates(const SteppedSeries& stepped, std::size_t rows,
                                       std::size_t season, const xt::xarray<double>& coming) {
  const auto& covariates = stepped.series.covariates;
  std::vector<double> all;
  for (std::size_t c = 0; c < stepped.series.channels(); ++c) {
    std::vector<double> values;
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t steps = stepped.steps[row];
      if (steps > longest_filled(season) + 1) values.clear();
      if (!values.empty()) values.insert(values.end(), steps - 1, values.back());
      values.push_back(covariates(c, row));
    }
    all.insert(all.end(), values.begin(), values.end());
    for (std::size_t h = 0; h < coming.size() / stepped.series.channels(); ++h)
      all.push_back(coming(c, h));
  }
  return all;
}

xt::xarray<double> covariates_from(const TimeSeries& series, std::size_t row, std::size_t H) {
  auto coming = xt::xarray<double>::from_shape({series.channels(), H});
  for (std::size_t c = 0; c < series.channels(); ++c)
    for (std::size_t h = 0; h < H; ++h)
      coming(c, h) = series.covariates(c, std::min(row + h, series.rows() - 1));
  return coming;
}

EnsembleLearner::EnsembleLearner(const Config& config, SeriesFacts facts)
    : TableLearner(config, std::move(facts), ensemble_spec), answers_(config, facts_) {
  reading_ = question_options(config, facts_);
}

std::string EnsembleLearner::describe() const {
  const std::string seasons =
      spec_.seasons.empty() ? "" : fmt::format(", seasons of {}", joined(spec_.seasons, " and "));
  return fmt::format("ensemble of {} forecasts{}, {} rows", model_.members().size(), seasons,
                     spec_.horizon);
}

std::size_t EnsembleLearner::season() const {
  return spec_.seasons.empty() ? 1 : std::size_t(spec_.seasons.front());
}

EnsembleForecast EnsembleLearner::forecast(const SteppedSeries& stepped, std::size_t number,
                                           std::size_t variate, std::size_t rows,
                                           const xt::xarray<double>& coming) const {
  const std::size_t channel = number * facts_.variates + variate;
  const std::vector<double> values = regular_rows(stepped, variate, rows, season());
  if (values.size() < least_rows(channel)) return model_.repeated(channel, values.back());
  return model_.forecast(channel, values, regular_covariates(stepped, rows, season(), coming));
}

void EnsembleLearner::require_rows(const SteppedSeries& stepped, std::size_t number,
                                   std::size_t rows) const {
  for (std::size_t v = 0; v < facts_.variates; ++v) {
    const std::size_t least = least_rows(number * facts_.variates + v),
                      there = regular_rows(stepped, v, rows, season()).size();
    if (there < least)
      throw DataError("the rows ",
                      stepped.series.id.empty() ? "" : "of " + words_of(stepped.series.id) + " ",
                      "since the last long gap are ", there, "; the model needs at least ", least);
  }
}

std::size_t EnsembleLearner::first_origin(const SteppedSeries& stepped, std::size_t number) const {
  std::size_t first = 0;
  for (std::size_t v = 0; v < facts_.variates; ++v) {
    const std::size_t least = least_rows(number * facts_.variates + v);
    std::size_t rows = std::min(stepped.series.rows(), std::max(first, least));
    while (rows > 0 && rows < stepped.series.rows() &&
           regular_rows(stepped, v, rows, season()).size() < least)
      ++rows;
    first = std::max(first, rows);
  }
  return first;
}

std::unique_ptr<RowForecasts> EnsembleLearner::forecasts_of(const TimeSeries& series,
                                                            std::size_t number) {
  return std::make_unique<EnsembleForecasts>(*this, series, number);
}

std::vector<std::string> EnsembleLearner::notes() const {
  std::vector<std::string> notes = answers_.notes();
  notes.insert(notes.end(), interval_notes().begin(), interval_notes().end());
  return notes;
}

NamedArray EnsembleLearner::predict(const NamedArray& question) {
  begin_answer();
  const auto forecast_of = [&](const ForecastRequest& request) {
    const SteppedSeries history(request.history);
    const std::size_t C = facts_.channels, L = facts_.lookback, H = facts_.horizon;
    auto coming = xt::xarray<double>::from_shape({C, H});
    for (std::size_t c = 0; c < C; ++c)
      for (std::size_t h = 0; h < H; ++h)
        coming(c, h) = double(request.facts.covariates(0, c, L + h));
    std::vector<EnsembleForecast> forecasts;
    require_rows(history, request.facts.series[0], request.history.rows());
    for (std::size_t v = 0; v < facts_.variates; ++v)
      forecasts.push_back(
          forecast(history, request.facts.series[0], v, request.history.rows(), coming));
    return covers() ? with_intervals(mean_rows(forecasts), request) : band_rows(forecasts);
  };
  if (covers()) return answers_.answer(question, forecast_of, interval_endings(), 0);
  return answers_.answer(question, forecast_of, band_endings, 0);
}

}  // namespace bochner
