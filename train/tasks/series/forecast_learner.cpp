#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/join.hpp>
#include <bochner/layers/models/forecaster.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/series/forecast_learner.hpp>

namespace bochner {
namespace {

ForecasterSpec forecaster_spec(const Config& config, const SeriesFacts& facts) {
  auto spec = read_spec<ForecasterSpec>(config, "model");
  spec.variates = facts.variates;
  spec.series = facts.ids.size();
  spec.covariates = facts.channels;
  spec.lookback = facts.lookback;
  spec.horizon = facts.horizon;
  spec.regular = !config.flag("data.stamps");
  complete(spec.time.density, config);
  complete(spec.stack, config,
           spec.backbone == "rows" ? spec.lookback + spec.horizon : spec.patches());
  return spec;
}

/// Returns the output whose level is nearest to the median. (B, V, H, Q) -> (B, V, H)
Tensor middle_output(const Tensor& forecast, const std::vector<double>& levels) {
  const std::size_t Q = levels.size(), middle = median_index(levels);
  Tensor values = uninitialized({forecast.shape()[0], forecast.shape()[1], forecast.shape()[2]});
  for (std::size_t i = 0; i < values.size(); ++i)
    values.data()[i] = forecast.data()[i * Q + middle];
  return values;
}

/// Forecasts of a series from the windows before its rows.
class WindowForecasts : public RowForecasts {
 public:
  WindowForecasts(ForecastLearner& learner, const TimeSeries& series, std::size_t number,
                  const RequestRules& rules)
      : learner_(learner),
        series_(series),
        number_(number),
        spec_(rules.windows),
        step_(step_of(series, rules.facts.step(number))),
        gaps_(rows_after_gaps(series, rules, number)) {}

  std::size_t first_origin() const override { return spec_.lookback; }
  bool is_usable(std::size_t origin) const override {
    const auto next = std::ranges::upper_bound(gaps_, origin - spec_.lookback);
    return next == gaps_.end() || *next > origin;
  }
  Tensor at(const std::vector<std::size_t>& origins) override {
    const std::size_t V = series_.variates(), H = spec_.horizon;
    Tensor all = uninitialized({origins.size(), V, H});
    for (std::size_t first = 0; first < origins.size(); first += batch_) {
      const std::size_t end = std::min(origins.size(), first + batch_);
      const SeriesBatch batch = batch_at(
          {origins.begin() + std::ptrdiff_t(first), origins.begin() + std::ptrdiff_t(end)});
      const Tensor forecast =
          learner_.point_of(learner_.forecast_in_unit(batch.past, rows_of(batch)));
      std::ranges::copy(forecast, all.data() + first * V * H);
    }
    return all;
  }

 private:
  SeriesBatch batch_at(const std::vector<std::size_t>& origins) const;

  static constexpr std::size_t batch_ = 64;
  ForecastLearner& learner_;
  const TimeSeries& series_;
  std::size_t number_;
  const SeriesSpec& spec_;
  TimeStep step_;
  std::vector<std::size_t> gaps_;
};

/// Returns the windows before these rows; covariates of rows after the last are those of the last.
SeriesBatch WindowForecasts::batch_at(const std::vector<std::size_t>& origins) const {
  const std::size_t B = origins.size(), V = series_.variates(), C = series_.channels(),
                    L = spec_.lookback, H = spec_.horizon, n = series_.rows();
  SeriesBatch batch{uninitialized({B, V, L}),
                    {},
                    Times(std::vector<std::size_t>{B, L + H}),
                    C > 0 ? uninitialized({B, C, L + H}) : Tensor(),
                    std::vector<std::size_t>(B, number_)};
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t i = 0; i < L + H; ++i) {
      const std::size_t row = origins[b] - L + i, last = std::min(row, n - 1);
      for (std::size_t v = 0; v < V && i < L; ++v)
        batch.past(b, v, i) = real(series_.values(v, row));
      for (std::size_t c = 0; c < C; ++c)
        batch.covariates(b, c, i) = real(series_.covariates(c, last));
      batch.times(b, i) = !spec_.stamps ? double(i)
                          : row < n     ? series_.times[row]
                                        : step_.after(series_.times.back(), row - n + 1);
    }
  return batch;
}

/// Transposes (1, V, H) or (1, V, H, Q) to (H, V, 1) or (H, V, Q).
Tensor by_rows(const Tensor& forecast, std::size_t V, std::size_t H) {
  const std::size_t Q = forecast.size() / (V * H);
  Tensor rows = uninitialized({H, V, Q});
  for (std::size_t v = 0; v < V; ++v)
    for (std::size_t h = 0; h < H; ++h)
      std::copy_n(forecast.data() + (v * H + h) * Q, Q, rows.data() + (h * V + v) * Q);
  return rows;
}

}  // namespace

ForecastLearner::ForecastLearner(const Config& config, SeriesFacts facts)
    : TableLearner(config, std::move(facts), forecaster_spec), answers_(config, facts_) {
  reading_ = question_options(config, facts_);
}

std::string ForecastLearner::describe() const {
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
      spec_.predicts_quantiles() ? fmt::format(", quantiles {}", joined(spec_.quantiles)) : "";
  const std::string effects =
      spec_.context() > 0 ? fmt::format(", effects of {}", spec_.context()) : "";
  return fmt::format("forecaster, {}{}{}{}, {} from {} rows", backbone, unit, effects, quantiles,
                     spec_.horizon, spec_.lookback);
}

std::string ForecastLearner::loss_unit() const {
  return spec_.predicts_quantiles() ? "pinball" : spec_.loss.kind;
}

Json ForecastLearner::sizes() const {
  const bool rows = spec_.backbone == "rows";
  return Json{{"length", rows ? spec_.lookback + spec_.horizon : spec_.patches()}};
}

NamedArray ForecastLearner::predict(const NamedArray& question) {
  begin_answer();
  const auto forecast_of = [&](const ForecastRequest& request) {
    const Tensor all = forecast_in_unit(request.past, request.facts);
    return covers() ? with_intervals(by_rows(point_of(all), spec_.variates, spec_.horizon), request)
                    : by_rows(all, spec_.variates, spec_.horizon);
  };
  if (covers()) return answers_.answer(question, forecast_of, interval_endings(), 0);
  return answers_.answer(question, forecast_of, quantile_endings(levels()),
                         levels().empty() ? 0 : median_index(levels()));
}

std::unique_ptr<RowForecasts> ForecastLearner::forecasts_of(const TimeSeries& series,
                                                            std::size_t number) {
  return std::make_unique<WindowForecasts>(*this, series, number, answers_.rules());
}

std::vector<std::string> ForecastLearner::notes() const {
  std::vector<std::string> notes = answers_.notes();
  notes.insert(notes.end(), interval_notes().begin(), interval_notes().end());
  const bool dates_are_said = !spec_.regular || !answers_.rules().columns.known.empty();
  if (!dates_are_said && facts_.crosses_pauses > 0)
    notes.push_back(
        fmt::format("dates of the forecast are {} apart; the training rows have further gaps that "
                    "neither weekdays nor times of day explain",
                    facts_.step(0)->words()));
  return notes;
}

void ForecastLearner::forward_specimen(Tape& tape, std::size_t i) {
  const SeriesBatch batch = standardized(facts_.specimens[i]);
  model_.loss(model_.forward(tape, tape.constant(batch.past), rows_of(batch)), batch.future);
}

std::vector<double> ForecastLearner::levels() const {
  return spec_.predicts_quantiles() ? spec_.quantiles : std::vector<double>{};
}

Tensor ForecastLearner::point_of(const Tensor& forecast) const {
  return spec_.predicts_quantiles() ? middle_output(forecast, spec_.quantiles) : forecast;
}

SeriesBatch ForecastLearner::standardized(SeriesBatch batch) {
  model_.standardize().apply(batch.past, batch.series);
  model_.standardize().apply(batch.future, batch.series);
  return batch;
}

Tensor ForecastLearner::forecast(const Tensor& past, const RowFacts& rows) {
  Tape tape({.recording = false});
  return model_.forward(tape, tape.view(past), rows).value();
}

Tensor ForecastLearner::forecast_in_unit(Tensor past, const RowFacts& rows) {
  model_.standardize().apply(past, rows.series);
  Tensor future = forecast(past, rows);
  model_.standardize().undo(future, rows.series);
  return future;
}

}  // namespace bochner
