#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <bochner/train/tasks/series/forecast_requests.hpp>
#include <cmath>
#include <iterator>

namespace bochner {
namespace {

/// "a", "b" and 4 more
std::string quoted_some(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  std::ranges::transform(names, std::back_inserter(quoted), excerpt);
  return some_of(quoted);
}

void require_known(const std::vector<SeriesRows>& parts, const SeriesFacts& learned) {
  std::vector<std::string> unknown;
  for (const SeriesRows& part : parts)
    if (!learned.number_of(part.id)) unknown.push_back(words_of(part.id));
  if (!unknown.empty())
    throw DataError("the model does not know the series ", quoted_some(unknown),
                    "; it was trained on ", quoted_some(learned.names()));
}

/// Removes the series that training left out, and notes their names, unless all of them are such.
void leave_out_unlearned(std::vector<SeriesRows>& parts, const SeriesFacts& learned,
                         std::vector<std::string>& left_out) {
  const auto is_unlearned = [&](const SeriesRows& part) {
    return !learned.number_of(part.id) && std::ranges::count(learned.left_out, part.id) > 0;
  };
  if (std::ranges::all_of(parts, is_unlearned)) return;
  std::vector<std::string> names;
  for (const SeriesRows& part : parts)
    if (is_unlearned(part)) names.push_back(words_of(part.id));
  std::erase_if(parts, is_unlearned);
  if (!names.empty())
    left_out.push_back("skipped " + quoted_some(names) + ": too short to train on");
}

/// A series of the input, and the rows without values at its end that are to be forecast.
struct SeenSeries {
  TimeSeries series;              ///< the rows with values
  std::vector<std::size_t> rows;  ///< numbers of all its rows in the table
  std::size_t asked = 0;          ///< how many of the rows are to be forecast
};

SeenSeries seen_series(NamedArray& table, const RequestRules& rules, const SeriesColumns& columns,
                       const SeriesRows& part) {
  SeenSeries seen{{}, part.rows, rows_to_forecast(table, columns, part.rows)};
  SeriesRows before = part;
  before.rows.resize(part.rows.size() - seen.asked);
  if (before.rows.empty())
    throw DataError("the input has only rows without values",
                    part.id.empty() ? "" : " of " + words_of(part.id),
                    "; add the rows before them");
  if (rules.carries_forward) carry_forward(table, columns, before.rows);
  seen.series = time_series(table, columns, before);
  seen.series.clock = clock_of(table, part.rows);
  return seen;
}

void require_fit(const std::vector<SeenSeries>& all, const SeriesFacts& learned) {
  const std::size_t V = learned.variates, L = learned.lookback, H = learned.horizon;
  std::vector<std::string> too_short;
  for (const auto& [series, rows, asked] : all) {
    if (series.variates() != V)
      throw DataError("the input has ", series.variates(), " variates; the model forecasts ", V);
    if (series.rows() < L)
      too_short.push_back(format_number_of(series.rows(), "row") +
                          (series.id.empty() ? "" : " of " + excerpt(words_of(series.id))));
    if (asked > H)
      throw DataError("the input asks for ", asked, " rows; the model forecasts at most ", H);
  }
  if (!too_short.empty())
    throw DataError("the input has ", some_of(too_short), "; the model needs at least ", L);
}

constexpr const char* neighbours = "; data.pause = 0 allows any step";

/// Returns whether steps between rows must be those of the training windows.
bool has_steps(const TimeSeries& series, const TimeStep* learned, const SeriesSpec& spec) {
  return spec.pause > 0 && !spec.stamps && spec.drop == 0 && !series.times.empty() && learned;
}

/// Throws DataError unless the last L rows have the time steps of the training windows.
void require_steps(const TimeSeries& series, const TimeStep* learned, const SeriesSpec& spec) {
  if (!has_steps(series, learned, spec)) return;
  const TimeStep step = learned->by(series.clock);
  const std::string whose = series.id.empty() ? "" : " of " + words_of(series.id),
                    advice = in_words(" apart", neighbours);
  const std::size_t L = spec.lookback, first = series.rows() - L;
  for (std::size_t row = first + 1; row < series.rows(); ++row)
    if (step.between(series.times[row - 1], series.times[row]) > spec.pause)
      throw DataError("the input has no row", whose, " between ",
                      series.time_text(series.times[row - 1]), " and ",
                      series.time_text(series.times[row]), ", within the last ", L,
                      " rows; the model learned rows ", step.words(), advice);
  if (step.are_closer(series.times.back() - series.times[first], L - 1))
    throw DataError("the input's last ", L, " rows", whose,
                    " are closer together than in training: ", step.words(), advice);
}

/// Removes series without future rows if the model has known columns, and notes their names. Throws
/// DataError if all series lack future rows.
void require_rows_to_come(std::vector<SeenSeries>& all, const RequestRules& rules, std::size_t H,
                          std::vector<std::string>& left_out) {
  const std::vector<std::string>& known = rules.columns.known;
  if (known.empty()) return;
  std::vector<std::string> without;
  for (const SeenSeries& seen : all)
    if (seen.asked == 0) without.push_back(words_of(seen.series.id));
  if (without.empty()) return;
  if (without.size() < all.size()) {
    std::erase_if(all, [](const SeenSeries& seen) { return seen.asked == 0; });
    left_out.push_back("skipped " + quoted_some(without) +
                       ": the input has no future rows with their known columns");
    return;
  }
  throw DataError("the input has no future rows with the known columns: append up to ", H, " rows",
                  rules.columns.series.empty() ? "" : " of " + quoted_some(without),
                  ", with their time and ", joined(known),
                  ", and leave the forecast columns empty");
}

/// Returns the times of the H rows after a series: those of the rows to be forecast, then further
/// steps. Empty without times. (H)
std::vector<double> times_to_come(const SeenSeries& seen, const TimeStep& step,
                                  const NamedArray& table, std::size_t H) {
  std::vector<double> times;
  if (seen.series.times.empty()) return times;
  double last = seen.series.times.back();
  for (std::size_t i = seen.series.rows(); times.size() < std::min(seen.asked, H); ++i) {
    times.push_back(table.values(seen.rows[i], *table.time));
    if (!(times.back() > last))
      throw DataError("row ", seen.rows[i] + 1, ": times must increase; sort the rows");
    last = times.back();
  }
  for (std::size_t count = 1; times.size() < H; ++count) times.push_back(step.after(last, count));
  return times;
}

/// Returns times (1, L + H) of the last L rows and of the H next ones: stamps, or 0, 1, 2, ...
Times window_times(const TimeSeries& series, const std::vector<double>& coming,
                   const SeriesSpec& spec) {
  const std::size_t L = spec.lookback, H = spec.horizon;
  if (spec.stamps && series.times.empty())
    throw DataError("the model needs time stamps; the input has no column of them");
  Times times(std::vector<std::size_t>{1, L + H});
  for (std::size_t i = 0; i < L + H; ++i) {
    if (!spec.stamps)
      times(0, i) = double(i);
    else
      times(0, i) = i < L ? series.times[series.rows() - L + i] : coming[i - L];
  }
  return times;
}

/// Returns the last columns of a matrix. (n, rows) -> (1, n, count)
Tensor last_columns(const xt::xarray<double>& matrix, std::size_t count) {
  const std::size_t n = matrix.shape()[0], rows = matrix.shape()[1];
  Tensor last = uninitialized({1, n, count});
  for (std::size_t v = 0; v < n; ++v) {
    const double* end = matrix.data() + (v + 1) * rows;
    std::copy(end - count, end, last.data() + v * count);
  }
  return last;
}

/// Throws DataError unless the rows to be forecast are the next ones in time.
void require_next_steps(const TimeSeries& series, const std::vector<double>& coming,
                        std::size_t asked, const TimeStep* learned, const SeriesSpec& spec) {
  if (!has_steps(series, learned, spec)) return;
  const TimeStep step = learned->by(series.clock);
  double last = series.times.back();
  for (std::size_t i = 0; i < asked; ++i) {
    const double time = coming[i];
    const std::size_t steps = step.between(last, time);
    if (steps == 0 || steps > spec.pause)
      throw DataError("the row to forecast at ", series.time_text(time),
                      " is not the next one after ", series.time_text(last),
                      series.id.empty() ? "" : " of " + words_of(series.id),
                      "; the model learned rows ", step.words(), " apart", neighbours);
    last = time;
  }
}

ForecastRequest request_of(const NamedArray& table, const SeriesColumns& columns,
                           const SeenSeries& seen, const RequestRules& rules) {
  const auto& [series, rows, asked] = seen;
  const SeriesSpec& spec = rules.windows;
  const std::size_t number = rules.facts.number_of(series.id).value_or(0);
  const TimeStep* learned = rules.facts.step(number);
  require_steps(series, learned, spec);
  const TimeStep step = step_of(series, learned);
  ForecastRequest request{series.id, last_columns(series.values, spec.lookback), {},
                          {},        asked > 0 ? asked : spec.horizon,           series};
  request.coming = times_to_come(seen, step, table, spec.horizon);
  request.clock = series.clock;
  request.step = step;
  request.asked = asked > 0;
  if (asked > 0) require_next_steps(series, request.coming, asked, learned, spec);
  request.facts.times = window_times(series, request.coming, spec);
  request.facts.series = {number};
  if (columns.covariates() == 0) return request;
  std::vector<double> times = series.times;
  times.insert(times.end(), request.coming.begin(), request.coming.end());
  request.facts.covariates =
      last_columns(covariates_of(table, columns, rows, times, series.rows() + spec.horizon),
                   spec.lookback + spec.horizon);
  return request;
}

void set_time(NamedArray& table, std::size_t row, double time, const WallClock& clock) {
  table.values(row, *table.time) = time;
  if (!clock.is_utc()) table.offsets[row] = clock.offset(time);
}

/// Writes the ids as numbers if all are numbers in their usual format, else as texts.
void write_ids(NamedArray& table, std::size_t column, const std::vector<std::string>& ids) {
  const bool numbers = std::ranges::all_of(ids, [](const std::string& id) {
    const auto number = parse_number(id);
    return number && format_number(*number) == id;
  });
  for (std::size_t row = 0; row < ids.size(); ++row)
    table.values(row, column) = numbers ? *parse_number(ids[row]) : double(row);
  if (!numbers) table.texts[column] = ids;
}

}  // namespace

RequestRules request_rules(const Config& config, const SeriesFacts& facts) {
  const SeriesColumns columns = series_columns(config);
  const bool carries = config.text("data.missing") == "forward";
  RequestRules rules{columns, carries, series_spec(config), facts};
  rules.windows.lookback = facts.lookback;
  rules.windows.horizon = facts.horizon;
  return rules;
}

TimeStep step_of(const TimeSeries& series, const TimeStep* learned) {
  if (!learned) return series.time_step();
  const TimeStep step = learned->by(series.clock);
  std::size_t alike = 1;
  for (std::size_t row = 1; row < series.times.size(); ++row)
    alike += step.between(series.times[row - 1], series.times[row]) == 1;
  const bool agrees =
      (step.counts_dates() || step.has_pauses()) && 10 * alike >= 9 * series.times.size();
  return agrees || series.rows() <= 2 ? step : series.time_step();
}

std::vector<std::size_t> rows_after_gaps(const TimeSeries& series, const RequestRules& rules,
                                         std::size_t number) {
  std::vector<std::size_t> rows;
  const TimeStep* learned = rules.facts.step(number);
  if (!has_steps(series, learned, rules.windows)) return rows;
  const TimeStep step = learned->by(series.clock);
  for (std::size_t row = 1; row < series.rows(); ++row)
    if (step.between(series.times[row - 1], series.times[row]) > rules.windows.pause)
      rows.push_back(row);
  return rows;
}

std::vector<std::string> requested_columns(const RequestRules& rules) {
  std::vector<std::string> columns = rules.facts.columns;
  const std::vector<std::string> others = rules.columns.others();
  if (!columns.empty()) columns.insert(columns.end(), others.begin(), others.end());
  return columns;
}

PartedTable parts_of_table(const NamedArray& input, const RequestRules& rules,
                           std::vector<std::string>& left_out) {
  const SeriesFacts& learned = rules.facts;
  PartedTable all{input, rules.columns, {}};
  if (input.values.dimension() == 2 && !all.columns.others().empty())
    all.columns = with_indicators(all.table, all.columns, learned.levels);
  all.columns.targets.clear();
  if (!input.columns.empty()) all.columns.targets = learned.columns;
  all.parts = rows_of_series(all.table, all.columns.series);
  if (all.columns.series.empty()) return all;
  leave_out_unlearned(all.parts, learned, left_out);
  require_known(all.parts, learned);
  return all;
}

std::vector<ForecastRequest> forecast_requests(const NamedArray& input, const RequestRules& rules,
                                               std::vector<std::string>& left_out) {
  const SeriesFacts& learned = rules.facts;
  auto [table, columns, parts] = parts_of_table(input, rules, left_out);
  std::vector<SeenSeries> all;
  for (const SeriesRows& part : parts) all.push_back(seen_series(table, rules, columns, part));
  require_fit(all, learned);
  require_rows_to_come(all, rules, learned.horizon, left_out);
  std::vector<ForecastRequest> requests;
  for (const SeenSeries& seen : all) requests.push_back(request_of(table, columns, seen, rules));
  return requests;
}

void append_forecast(ForecastRequest& request, const Tensor& forecasts, std::size_t column,
                     const RequestRules& rules) {
  TimeSeries& series = request.history;
  const std::size_t V = series.variates(), n = series.rows(), H = rules.windows.horizon,
                    Q = forecasts.size() / (V * H);
  auto values = xt::xarray<double>::from_shape({V, n + H});
  for (std::size_t v = 0; v < V; ++v) {
    double* row = std::copy_n(series.values.data() + v * n, n, values.data() + v * (n + H));
    for (std::size_t h = 0; h < H; ++h) row[h] = double(forecasts.data()[(h * V + v) * Q + column]);
  }
  series.values = std::move(values);
  if (!request.coming.empty()) {
    const double last = request.coming.back();
    series.times.insert(series.times.end(), request.coming.begin(), request.coming.end());
    for (std::size_t h = 0; h < H; ++h) request.coming[h] = request.step.after(last, h + 1);
  }
  request.past = last_columns(series.values, rules.windows.lookback);
  request.facts.times = window_times(series, request.coming, rules.windows);
}

std::vector<std::string> quantile_endings(const std::vector<double>& levels) {
  if (levels.empty()) return {""};
  std::vector<std::string> endings;
  for (const double level : levels) endings.push_back("_" + format_number(level));
  return endings;
}

std::vector<std::string> interval_endings(double level) {
  constexpr double digits = 1e9;  // (1 - 0.9) / 2 is not 0.05
  const double lower = std::round((1 - level) / 2 * digits) / digits;
  return quantile_endings({lower, std::round((1 - lower) * digits) / digits});
}

NamedArray forecast_table(const NamedArray& input, const SeriesColumns& columns,
                          const std::vector<std::string>& names,
                          const std::vector<ForecastRequest>& requests,
                          const std::vector<Tensor>& answers,
                          const std::vector<std::string>& endings) {
  const std::size_t ids = columns.series.size(), time = requests[0].coming.empty() ? 0 : 1,
                    width = answers[0].size() / answers[0].shape()[0], first = ids + time;
  std::size_t rows = 0;
  for (const ForecastRequest& request : requests) rows += request.rows;
  NamedArray table{xt::xarray<double>::from_shape({rows, first + width}), {}};
  if (time > 0) table.time = ids;
  table.numeric_time = input.numeric_time, table.time_format = input.time_format;
  if (!requests[0].clock.is_utc()) table.offsets.assign(rows, 0);
  std::vector<std::vector<std::string>> id_columns(ids);
  std::size_t row = 0;
  for (std::size_t i = 0; i < requests.size(); ++i)
    for (std::size_t h = 0; h < requests[i].rows; ++h, ++row) {
      for (std::size_t k = 0; k < ids; ++k) id_columns[k].push_back(requests[i].id[k]);
      if (time > 0) set_time(table, row, requests[i].coming[h], requests[i].clock);
      for (std::size_t j = 0; j < width; ++j)
        table.values(row, first + j) = double(answers[i].data()[h * width + j]);
    }
  for (std::size_t k = 0; k < ids; ++k) write_ids(table, k, id_columns[k]);
  if (names.empty()) return table;
  for (const std::string& column : columns.series)
    table.columns.push_back(
        column_name(input, *find_column(input.columns, input.values.shape()[1], column)));
  if (time > 0) table.columns.push_back(column_name(input, *input.time));
  for (const std::string& name : names)
    for (const std::string& ending : endings) table.columns.push_back(name + ending);
  return table;
}

}  // namespace bochner
