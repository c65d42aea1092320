#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/data/formats/read_array.hpp>
#include <bochner/data/series/time_step.hpp>
#include <bochner/train/tasks/config_templates/series_inference.hpp>
#include <cmath>

namespace bochner {
namespace {

/// Reads a column, and of several series the rows of the first one.
std::vector<double> column_of(const std::filesystem::path& file, const std::string& column,
                              const std::vector<std::string>& series, ReadOptions reading) try {
  reading.csv.columns = series;
  reading.csv.columns.push_back(column);
  reading.csv.texts = series;
  const xt::xarray<double> table = read_array(file, reading).values;
  const std::size_t width = series.size() + 1;
  std::vector<double> numbers;
  for (const double* row = table.data(); row < table.data() + table.size(); row += width)
    if (std::equal(row, row + series.size(), table.data())) numbers.push_back(row[series.size()]);
  return numbers;
} catch (const DataError&) {
  return {};
}

/// Returns the lags at which values without linear trend repeat: the shortest, and seven times it
/// if they repeat more there, as weeks of days do.
std::vector<std::size_t> repeating_lags(std::vector<double> values) {
  constexpr std::size_t most_values = 3000, fewest_of_day = 24;
  constexpr double least = 0.4, nearly = 0.9;
  if (values.size() > most_values) values.erase(values.begin(), values.end() - most_values);
  const std::size_t n = values.size();
  if (n < 12) return {};
  const double middle = double(n - 1) / 2;
  double mean = 0, slope = 0, squares = 0;
  for (std::size_t i = 0; i < n; ++i) mean += values[i] / double(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double t = double(i) - middle;
    slope += t * (values[i] - mean);
    squares += t * t;
  }
  for (std::size_t i = 0; i < n; ++i) values[i] -= mean + slope / squares * (double(i) - middle);
  std::vector<double> correlations;
  for (std::size_t lag = 0; lag <= n / 3; ++lag) {
    double sum = 0;
    for (std::size_t i = lag; i < n; ++i) sum += values[i] * values[i - lag];
    correlations.push_back(sum / double(n - lag));
  }
  const auto is_peak = [&](std::size_t lag) {
    return correlations[lag] > correlations[lag - 1] && correlations[lag] >= correlations[lag + 1];
  };
  double top = least * correlations[0];
  for (std::size_t lag = 2; lag + 1 < correlations.size(); ++lag)
    if (is_peak(lag)) top = std::max(top, correlations[lag]);
  for (std::size_t lag = 2; lag + 1 < correlations.size(); ++lag)
    if (is_peak(lag) && correlations[lag] >= std::max(least * correlations[0], nearly * top))
      return lag >= fewest_of_day && 7 * lag < correlations.size() &&
                     correlations[7 * lag] >= nearly * correlations[lag]
                 ? std::vector{lag, 7 * lag}
                 : std::vector{lag};
  return {};
}

/// Returns the seasons that the calendar gives steps of time, each at most half of the rows.
std::vector<std::size_t> seasons_of(const std::vector<double>& times,
                                    const std::vector<double>& values, std::size_t rows) {
  constexpr double day = 86400;
  constexpr std::size_t days_of_week = 7, days_of_year = 365;
  const TimeStep step(times);
  std::vector<std::size_t> seasons;
  const auto add = [&](std::size_t season) {
    if (season > 1 && 2 * season <= rows) seasons.push_back(season);
  };
  const std::size_t first = times.size() > 1 ? step.season() : 1;
  if (first == 1) {
    for (const std::size_t lag : repeating_lags(values)) add(lag);
    return seasons;
  }
  add(first);
  const double span = step.after(times.back(), first) - times.back();
  if (span == day) add(days_of_week * first);
  if (span == days_of_week * day && first == days_of_week) add(days_of_year);
  return seasons;
}

}  // namespace

std::vector<double> times_of(const std::filesystem::path& file, const std::string& column,
                             const std::vector<std::string>& series, const CsvOptions& options) {
  ReadOptions reading{.csv = options};
  reading.csv.time = column;
  return column_of(file, column, series, reading);
}

std::vector<double> values_of(const std::filesystem::path& file, const std::string& column,
                              const std::vector<std::string>& series, const CsvOptions& options) {
  ReadOptions reading{.csv = options};
  reading.csv.missing = "nan";
  std::vector<double> values = column_of(file, column, series, reading);
  std::erase_if(values, [](double x) { return std::isnan(x); });
  return values;
}

bool have_missing(const std::filesystem::path& file, const std::vector<std::string>& columns,
                  const CsvOptions& options) try {
  if (columns.empty()) return false;
  ReadOptions reading{.csv = options};
  reading.csv.columns = columns;
  reading.csv.missing = "nan";
  const xt::xarray<double> table = read_array(file, reading).values;
  return std::any_of(table.begin(), table.end(), [](double x) { return std::isnan(x); });
} catch (const DataError&) {
  return false;
}

EnsembleSizes ensemble_sizes(const std::vector<double>& times, const std::vector<double>& values,
                             std::size_t rows) {
  constexpr std::size_t longest_without_season = 24, rows_of_horizon = 10;
  EnsembleSizes sizes{seasons_of(times, values, rows), 1, 2};
  const auto& seasons = sizes.seasons;
  sizes.horizon = std::clamp<std::size_t>(seasons.empty() ? rows / rows_of_horizon : seasons[0], 1,
                                          std::max<std::size_t>(1, rows / 5));
  if (seasons.empty()) sizes.horizon = std::min(sizes.horizon, rows_of_horizon);
  const std::size_t wanted =
      seasons.empty() ? longest_without_season : seasons.front() + seasons.back();
  sizes.lookback =
      std::clamp<std::size_t>(wanted, 2, std::max<std::size_t>(2, (rows - sizes.horizon) / 4));
  return sizes;
}

}  // namespace bochner
