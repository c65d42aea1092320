#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/text.hpp>
#include <bochner/train/config/usage.hpp>
#include <bochner/train/tasks/series/calibrated_series.hpp>
#include <bochner/train/tasks/series/row_anomalies.hpp>
#include <bochner/train/tasks/series/row_imputation.hpp>
#include <cmath>

namespace bochner {
namespace {

/// Appends columns to a table. values (rows, k)
NamedArray with_columns(const NamedArray& table, const std::vector<std::string>& names,
                        const xt::xarray<double>& values) {
  const std::size_t rows = table.values.shape()[0], width = table.values.shape()[1],
                    k = names.size();
  NamedArray wider = table;
  wider.values = xt::xarray<double>::from_shape({rows, width + k});
  for (std::size_t row = 0; row < rows; ++row) {
    double* to = wider.values.data() + row * (width + k);
    std::copy_n(table.values.data() + row * width, width, to);
    std::copy_n(values.data() + row * k, k, to + width);
  }
  if (!wider.columns.empty()) wider.columns.insert(wider.columns.end(), names.begin(), names.end());
  return wider;
}

/// Returns the columns of ids, then the time, then the others in the order of the table.
NamedArray ids_and_time_first(const NamedArray& table, const SeriesColumns& columns) {
  const std::size_t rows = table.values.shape()[0], width = table.values.shape()[1];
  std::vector<std::size_t> order;
  for (const std::string& id : columns.series) order.push_back(require_column(table, id));
  if (table.time) order.push_back(*table.time);
  for (std::size_t i = 0; i < width; ++i)
    if (std::ranges::count(order, i) == 0) order.push_back(i);
  NamedArray ordered = table;
  ordered.texts.clear(), ordered.merged.clear(), ordered.more_times.clear();
  for (std::size_t to = 0; to < width; ++to) {
    const std::size_t from = order[to];
    for (std::size_t row = 0; row < rows; ++row) ordered.values(row, to) = table.values(row, from);
    if (!table.columns.empty()) ordered.columns[to] = table.columns[from];
    if (const auto texts = table.texts.find(from); texts != table.texts.end())
      ordered.texts[to] = texts->second;
    if (table.time == from) ordered.time = to;
    if (std::ranges::count(table.more_times, from) > 0) ordered.more_times.push_back(to);
  }
  return ordered;
}

xt::xarray<double> empty_columns(std::size_t rows, std::size_t count) {
  xt::xarray<double> values = xt::xarray<double>::from_shape({rows, count});
  values.fill(std::numeric_limits<double>::quiet_NaN());
  return values;
}

}  // namespace

void CalibratedSeries::set_calibration(Calibration calibration) {
  const SeriesFacts& facts = request_rules().facts;
  const std::size_t ends = calibration.ends.size();
  if (calibration.leads != facts.horizon ||
      calibration.channels.size() != facts.variates * facts.ids.size() ||
      (ends > 0 && ends != facts.ids.size()))
    throw DataError("the calibration is of another model");
  held_ = HeldOutRows(std::move(calibration));
}

void CalibratedSeries::cover(double level) { level_ = level; }

void CalibratedSeries::begin_answer() {
  half_widths_.clear();
  interval_notes_.clear();
}

std::vector<std::string> CalibratedSeries::interval_endings() const {
  const std::vector<std::string> ends = bochner::interval_endings(level_);
  return {"", ends[0], ends[1]};
}

void CalibratedSeries::require_calibrated(std::size_t series,
                                          const std::vector<std::string>& id) const {
  const std::size_t V = request_rules().facts.variates;
  demand(held_.exists() && held_.calibration().channels[series * V].errors.size() > 0,
         "the run has no held-out rows{}, which intervals and p-values need; give data.splits a "
         "validation part",
         id.empty() ? "" : " of " + words_of(id));
}

Tensor CalibratedSeries::with_intervals(const Tensor& point, const ForecastRequest& request) {
  const std::vector<double>& widths = half_widths(request);
  const std::size_t H = point.shape()[0], V = point.shape()[1];
  Tensor rows = uninitialized({H, V, 3});
  for (std::size_t h = 0; h < H; ++h)
    for (std::size_t v = 0; v < V; ++v) {
      const double value = double(point.data()[h * V + v]), width = widths[v * H + h];
      rows(h, v, 0) = real(value);
      rows(h, v, 1) = real(value - width);
      rows(h, v, 2) = real(value + width);
    }
  return rows;
}

const std::vector<double>& CalibratedSeries::half_widths(const ForecastRequest& request) {
  const std::size_t number = request.facts.series[0], V = request_rules().facts.variates;
  const auto found = half_widths_.find(number);
  if (found != half_widths_.end()) return found->second;
  require_calibrated(number, request.id);
  std::vector<double> widths;
  for (std::size_t v = 0; v < V; ++v) {
    const std::vector<double> of_variate = held_.half_widths(number * V + v, level_);
    widths.insert(widths.end(), of_variate.begin(), of_variate.end());
  }
  const std::vector<double>&ends = held_.calibration().ends, &times = request.history.times;
  if (!ends.empty() && !times.empty() && times.back() > ends[number])
    widths = adapted_half_widths(
        request, std::size_t(std::ranges::upper_bound(times, ends[number]) - times.begin()));
  return half_widths_[number] = widths;
}

/// Walks the last known rows after the held-out ones, `from` the first of them.
std::vector<double> CalibratedSeries::adapted_half_widths(const ForecastRequest& request,
                                                          std::size_t from) {
  constexpr std::size_t most_walked = 1000;
  const TimeSeries& series = request.history;
  const std::size_t n = series.rows(), V = series.variates(), H = held_.calibration().leads;
  const auto forecasts = forecasts_of(series, request.facts.series[0]);
  from = std::max({from, forecasts->first_origin(), n > most_walked ? n - most_walked : 0});
  std::vector<std::size_t> origins;
  for (std::size_t row = from; row < n; ++row)
    if (forecasts->is_usable(row)) origins.push_back(row);
  AdaptiveRows adaptive(held_, request.facts.series[0], V, level_);
  const Tensor all = forecasts->at(origins);
  for (std::size_t i = 0; i < origins.size(); ++i) {
    adaptive.advance(origins[i], series);
    adaptive.add(origins[i], all.data() + i * V * H);
  }
  adaptive.advance(n, series);
  interval_notes_.push_back(in_words("intervals follow the errors of the last ",
                                     format_number_of(origins.size(), "row"),
                                     series.id.empty() ? "" : " of " + words_of(series.id)));
  std::vector<double> widths;
  for (std::size_t v = 0; v < V; ++v)
    for (std::size_t h = 0; h < H; ++h) widths.push_back(adaptive.half_width(v, h));
  return widths;
}

NamedArray CalibratedSeries::anomalies(const NamedArray& question) {
  begin_answer();
  const RequestRules& rules = request_rules();
  const std::size_t V = rules.facts.variates;
  std::vector<std::string> names;
  std::size_t unscored = 0;
  xt::xarray<double> values = empty_columns(question.values.shape()[0], V + 2);
  for (const KnownRows& known : known_rows(question, rules, interval_notes_)) {
    require_calibrated(known.number, known.series.id);
    if (names.empty())
      for (const std::size_t column : known.columns)
        names.push_back(column_name(question, column) + "_expected");
    const auto forecasts = [&](const TimeSeries& series) {
      return forecasts_of(series, known.number);
    };
    const std::vector<RowScore> scores = score_rows(known, held_, forecasts);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      double* row = values.data() + known.rows[i] * (V + 2);
      std::ranges::copy(scores[i].expected, row);
      row[V] = scores[i].score, row[V + 1] = scores[i].p;
      unscored += std::isnan(scores[i].score);
    }
  }
  if (unscored > 0)
    interval_notes_.push_back(in_words(format_number_of(unscored, "row"),
                                       " without a score: the model needs rows before them"));
  names.insert(names.end(), {"score", "p"});
  return with_columns(ids_and_time_first(question, rules.columns), names, values);
}

NamedArray CalibratedSeries::impute(const NamedArray& question) {
  begin_answer();
  NamedArray filled = question;
  xt::xarray<double> counts = empty_columns(question.values.shape()[0], 1);
  std::size_t all = 0, by_lines = 0;
  for (const KnownRows& known : known_rows(question, request_rules(), interval_notes_)) {
    require_calibrated(known.number, known.series.id);
    const auto forecasts = [&](const TimeSeries& series) {
      return forecasts_of(series, known.number);
    };
    const Imputed imputed = impute_rows(known, held_.calibration(), forecasts);
    by_lines += imputed.by_lines;
    for (std::size_t i = 0; i < known.rows.size(); ++i) {
      double& count = counts(known.rows[i], 0) = 0;
      for (std::size_t v = 0; v < known.columns.size(); ++v)
        if (known.missing[v][i]) {
          filled.values(known.rows[i], known.columns[v]) = imputed.values(v, i);
          ++count, ++all;
        }
    }
  }
  interval_notes_.push_back(in_words("filled in ", format_number_of(all, "value")));
  if (by_lines > 0)
    interval_notes_.push_back(
        in_words(by_lines,
                 " of them on a line between neighbours: the rows before them are fewer "
                 "than the model needs"));
  return with_columns(ids_and_time_first(filled, request_rules().columns), {"filled"}, counts);
}

}  // namespace bochner
