#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <bochner/layers/models/forecaster.hpp>
#include <bochner/train/tasks/series/rolling_origins.hpp>
#include <cmath>
#include <numeric>

namespace bochner {
namespace {

/// Returns windows of one series that are at least plan.stride rows apart, the last one first.
std::vector<std::uint64_t> from_the_end(const SeriesWindows& windows, Split split,
                                        std::uint64_t begin, std::uint64_t end,
                                        const BacktestPlan& plan) {
  std::vector<std::uint64_t> chosen;
  for (std::uint64_t window = end; window-- > begin;) {
    if (plan.origins > 0 && chosen.size() == plan.origins) break;
    if (chosen.empty() || windows.first_predicted(split, window) + plan.stride <=
                              windows.first_predicted(split, chosen.back()))
      chosen.push_back(window);
  }
  return chosen;
}

double pinball_of(double error, double level) {
  return std::max(level * error, (level - 1) * error);
}

}  // namespace

RollingOrigins::RollingOrigins(const SeriesWindows& windows, const BacktestPlan& plan,
                               std::vector<double> units, std::vector<double> levels)
    : windows_(windows), split_(plan.split), levels_(std::move(levels)), units_(std::move(units)) {
  const TimeSeries& first = windows.series();
  const std::size_t V = first.variates();
  result_.horizon = windows.spec().horizon;
  result_.stride = plan.stride > 0 ? plan.stride : result_.horizon;
  result_.has_quantiles = !levels_.empty();
  if (V == 1) result_.unit = first.names.empty() ? "the data" : first.names[0];
  choose({plan.split, plan.origins, result_.stride, plan.season});
  set_season(plan.season);
  if (V == 1) std::ranges::fill(units_, 1.0);
  for (std::size_t series = 0; series < windows.count(); ++series)
    for (std::size_t v = 0; v < V; ++v) differences_.push_back(difference_of(series, v));
  const std::size_t n = result_.starts.size(), H = result_.horizon;
  const std::vector<double> none(H, 0.0);
  result_.values.assign(n, 0);
  result_.scaled_values.assign(n, 0);
  result_.forecasts = {{"forecast"}, {"last value"}};
  if (result_.season > 1) result_.forecasts.push_back({in_words("season of ", result_.season)});
  for (Backtest::Forecast& forecast : result_.forecasts)
    forecast.origins.assign(n, {none, none, none, none});
}

void RollingOrigins::choose(const BacktestPlan& plan) {
  std::vector<std::vector<std::uint64_t>> of_series(windows_.count());
  std::size_t most = 0;
  for (std::uint64_t begin = 0, end = 0; begin < windows_.examples(split_); begin = end) {
    const std::size_t series = windows_.place(split_, begin).series;
    while (end < windows_.examples(split_) && windows_.place(split_, end).series == series) ++end;
    of_series[series] = from_the_end(windows_, split_, begin, end, plan);
    most = std::max(most, of_series[series].size());
  }
  require(most > 0 && plan.origins <= most, "backtest", "the ", name_of(split_), " split has only ",
          most, " origins that are ", plan.stride, " rows apart, not ", plan.origins,
          "; ask for fewer, a smaller stride or a larger split");
  result_.starts.resize(most);
  for (std::size_t series = 0; series < of_series.size(); ++series)
    for (std::size_t i = 0; i < of_series[series].size(); ++i) {
      const SeriesWindows::Place place = windows_.place(split_, of_series[series][i]);
      const TimeSeries& of_window = windows_.series(series);
      chosen_.push_back({of_series[series][i], place, most - 1 - i});
      std::string& start = result_.starts[most - 1 - i];
      if (start.empty())
        start = of_window.times.empty() ? in_words("row ", place.row + 1)
                                        : of_window.time_text(of_window.times[place.row]);
    }
}

/// Ignores the season of the time stamps if there are too few rows for it.
void RollingOrigins::set_season(std::size_t wanted) {
  std::size_t fewest = windows_.rows(Split::train) / 2;
  for (const Chosen& each : chosen_) fewest = std::min(fewest, each.place.row);
  const std::size_t suggested = windows_.series().time_step().season();
  result_.season = wanted > 0 ? wanted : suggested <= fewest ? suggested : 1;
  require(result_.season <= std::max<std::size_t>(1, fewest), "backtest", "a season of ",
          result_.season,
          " rows is too long for the rows before the first origin and for half of "
          "the training rows, ",
          fewest);
}

double RollingOrigins::difference_of(std::size_t series, std::size_t variate) const {
  const std::size_t n = windows_.rows(Split::train, series), m = result_.season;
  const auto& values = windows_.series(series).values;
  double sum = 0;
  for (std::size_t row = m; row < n; ++row)
    sum += std::abs(values(variate, row) - values(variate, row - m));
  return n > m ? sum / double(n - m) : 0;
}

Examples RollingOrigins::examples(std::size_t first, std::size_t count) const {
  Examples examples{split_, {}};
  for (std::size_t i = first; i < std::min(first + count, chosen_.size()); ++i)
    examples.numbers.push_back({chosen_[i].window});
  return examples;
}

void RollingOrigins::add(std::size_t first, const Tensor& forecast) {
  const std::size_t B = forecast.shape()[0], V = forecast.shape()[1], H = result_.horizon,
                    Q = std::max<std::size_t>(1, levels_.size());
  for (std::size_t b = 0; b < B; ++b) {
    const Chosen& at = chosen_[first + b];
    for (std::size_t v = 0; v < V; ++v) {
      result_.values[at.origin] += 1;
      result_.scaled_values[at.origin] += differences_[at.place.series * V + v] > 0;
      for (std::size_t h = 0; h < H; ++h)
        add_value(at, v, h, forecast.data() + ((b * V + v) * H + h) * Q);
    }
  }
}

void RollingOrigins::add_value(const Chosen& at, std::size_t variate, std::size_t h,
                               const real* forecast) {
  const auto& values = windows_.series(at.place.series).values;
  const std::size_t row = at.place.row, m = result_.season;
  const std::size_t unit = at.place.series * values.shape()[0] + variate;
  const double truth = values(variate, row + h);
  const double point = double(forecast[levels_.empty() ? 0 : median_index(levels_)]);
  const auto errors = [&](std::size_t which) -> OriginErrors& {
    return result_.forecasts[which].origins[at.origin];
  };
  add_error(errors(0), unit, h, truth, point, levels_.empty() ? nullptr : forecast);
  add_error(errors(1), unit, h, truth, values(variate, row - 1), nullptr);
  if (m > 1) add_error(errors(2), unit, h, truth, values(variate, row - m + h % m), nullptr);
}

/// Counts a forecast without quantiles as the same number at every level.
void RollingOrigins::add_error(OriginErrors& errors, std::size_t unit, std::size_t h, double truth,
                               double forecast, const real* quantiles) {
  const double error = (truth - forecast) / units_[unit];
  errors.squared[h] += error * error;
  errors.absolute[h] += std::abs(error);
  if (differences_[unit] > 0) errors.scaled[h] += std::abs(truth - forecast) / differences_[unit];
  for (std::size_t q = 0; q < levels_.size(); ++q) {
    const double each = quantiles ? (truth - double(quantiles[q])) / units_[unit] : error;
    errors.pinball[h] += pinball_of(each, levels_[q]) / double(levels_.size());
  }
}

Verdict backtest_verdict(const Backtest& backtest) {
  const double values = std::accumulate(backtest.values.begin(), backtest.values.end(), 0.0);
  Verdict verdict{
      "mean absolute error" +
          (backtest.unit.empty() ? " in deviations of the training rows" : " of " + backtest.unit),
      format_number_of(backtest.starts.size(), "held-out origin")};
  std::vector<Score> scores;
  for (const Backtest::Forecast& forecast : backtest.forecasts) {
    double sum = 0;
    for (const OriginErrors& errors : forecast.origins)
      sum = std::accumulate(errors.absolute.begin(), errors.absolute.end(), sum);
    scores.push_back({forecast.name, sum / (values * double(backtest.horizon))});
  }
  verdict.score = scores[0].value;
  verdict.naive.assign(scores.begin() + 1, scores.end());
  return verdict;
}

}  // namespace bochner
