#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/data/formats/read_array.hpp>
#include <bochner/data/series/series_windows.hpp>
#include <bochner/train/tasks/config_templates/inferred_pause.hpp>
#include <bochner/train/tasks/config_templates/series_inference.hpp>
#include <set>

namespace bochner {
namespace {

constexpr std::size_t longest_pause = 1 << 20;  // limit of data.pause

/// Counts the training windows with this pause; 0 if a split has no windows.
std::uint64_t training_windows(const TimeSeries& series, SeriesSpec spec, std::size_t pause) try {
  spec.pause = pause;
  return SeriesWindows(series, spec).examples(Split::train);
} catch (const DataError&) {
  return 0;
}

}  // namespace

bool are_irregular(const std::vector<double>& times) {
  return are_increasing(times) && !TimeStep(times).is_regular();
}

std::size_t pause_for(const std::vector<double>& times, std::size_t lookback, std::size_t horizon,
                      const std::vector<double>& splits) {
  if (!are_increasing(times)) return 1;
  TimeSeries series{{}, {}, times};
  series.values = xt::zeros<double>({std::size_t(1), times.size()});
  SeriesSpec spec{.lookback = lookback, .horizon = horizon, .splits = splits};
  const TimeStep step = series.time_step();
  std::set<std::size_t> steps = {1};
  for (std::size_t row = 1; row < times.size(); ++row)
    steps.insert(std::max<std::size_t>(1, step.between(times[row - 1], times[row])));
  const std::vector<std::size_t> pauses(steps.begin(), steps.end());
  const std::uint64_t all = training_windows(series, spec, 0);
  const auto leaves_few = [&](std::size_t pause) {
    return 2 * training_windows(series, spec, pause) < all;
  };
  const std::size_t pause = *std::ranges::partition_point(pauses, leaves_few);
  return pause <= longest_pause ? pause : 0;
}

std::vector<double> times_of(const std::filesystem::path& file, const std::string& column,
                             const std::vector<std::string>& series,
                             const CsvOptions& options) try {
  ReadOptions reading{.csv = options};
  reading.csv.columns = series;
  reading.csv.columns.push_back(column);
  reading.csv.texts = series;
  reading.csv.time = column;
  const xt::xarray<double> table = read_array(file, reading).values;
  const std::size_t width = series.size() + 1;
  std::vector<double> times;
  for (const double* row = table.data(); row < table.data() + table.size(); row += width)
    if (std::equal(row, row + series.size(), table.data())) times.push_back(row[series.size()]);
  return times;
} catch (const DataError&) {
  return {};
}

}  // namespace bochner
