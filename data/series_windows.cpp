#include <algorithm>
#include <bochner/data/files/errors.hpp>
#include <bochner/data/files/text.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <bochner/data/series_windows.hpp>
#include <cmath>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Rows at which the splits begin and end.
std::vector<std::size_t> split_borders(const std::vector<double>& splits, std::size_t rows) {
  require(splits.size() == 3, "series", "data.splits must be three numbers, not ", splits.size());
  const bool fractions = *std::max_element(splits.begin(), splits.end()) <= 1;
  const double unit = fractions ? double(rows) : 1;
  std::vector<std::size_t> borders = {0};
  double sum = 0;
  for (const double part : splits) {
    sum += part;
    borders.push_back(std::size_t(std::llround(sum * unit)));
  }
  if (borders.back() > rows)
    throw DataError("data.splits need ", borders.back(), " rows, there are ", rows);
  return borders;
}

/// Removes each row with probability `drop`; `borders` then count what is left.
void thin(TimeSeries& series, const SeriesSpec& spec, std::vector<std::size_t>& borders) {
  const RandomFunction random{spec.seed, Purpose::examples, stream_of("series.drop")};
  std::vector<std::size_t> kept;
  std::vector<std::size_t> thinned(borders.size());
  for (std::size_t row = 0; row < series.rows(); ++row) {
    if (random.uniform(row) < spec.drop) continue;
    kept.push_back(row);
    for (std::size_t i = 0; i < borders.size(); ++i) thinned[i] += row < borders[i];
  }
  TimeSeries left{series.names, {}, {}};
  left.values.resize({series.variates(), kept.size()});
  for (std::size_t v = 0; v < series.variates(); ++v)
    for (std::size_t i = 0; i < kept.size(); ++i) left.values(v, i) = series.values(v, kept[i]);
  for (const std::size_t row : kept)
    if (!series.times.empty()) left.times.push_back(series.times[row]);
  series = std::move(left);
  borders = std::move(thinned);
}

}  // namespace

SeriesWindows::SeriesWindows(TimeSeries series, const SeriesSpec& spec)
    : series_(std::move(series)),
      spec_(spec),
      borders_(split_borders(spec.splits, series_.rows())) {
  if (spec.drop > 0) thin(series_, spec, borders_);
  if (spec.stamps && series_.times.empty())
    throw DataError("data.stamps needs a column of times; name it as data.time_column");
  require(spec.lookback >= 1 && spec.horizon >= 1 && spec.stride >= 1, "series",
          "lookback, horizon and stride must be at least 1");
  gaps_ = find_gaps();
  for (const Split split : {Split::train, Split::validation, Split::test})
    windows_[std::size_t(split)] = find_windows(split);
  examples_ = {spec.seed, windows_[0].size(), windows_[1].size(), windows_[2].size()};
  for (const Split split : {Split::train, Split::validation, Split::test}) {
    if (examples(split) > 0 || (rows(split) == 0 && split != Split::train)) continue;
    throw DataError("the ", name_of(split), " split has ", rows(split),
                    " rows, too few for data.lookback = ", spec_.lookback,
                    " and data.horizon = ", spec_.horizon,
                    gaps_.empty() ? "" : " between its gaps (data.pause)",
                    "; shorten them or change data.splits");
  }
}

std::vector<std::size_t> SeriesWindows::find_gaps() const {
  std::vector<std::size_t> gaps;
  if (spec_.pause == 0 || spec_.stamps || spec_.drop > 0) return gaps;
  const TimeStep step = series_.time_step();
  for (std::size_t row = 1; row < series_.times.size(); ++row)
    if (step.between(series_.times[row - 1], series_.times[row]) > spec_.pause) gaps.push_back(row);
  return gaps;
}

std::vector<std::size_t> SeriesWindows::find_windows(Split split) const {
  std::vector<std::size_t> borders = gaps_, windows;
  borders.push_back(series_.rows());
  std::size_t from = 0;
  for (const std::size_t to : borders) {
    for (std::size_t row = std::max(begin(split), from + spec_.lookback);
         row + spec_.horizon <= std::min(end(split), to); row += spec_.stride)
      windows.push_back(row);
    from = to;
  }
  return windows;
}

std::size_t SeriesWindows::first_predicted(Split split, std::uint64_t window) const {
  return windows_[std::size_t(split)][window];
}

SeriesBatch SeriesWindows::batch(const Examples& windows) const {
  const std::size_t count = windows.size();
  const std::size_t V = series_.variates(), L = spec_.lookback, H = spec_.horizon;
  SeriesBatch batch{uninitialized({count, V, L}), uninitialized({count, V, H}),
                    Times(std::vector<std::size_t>{count, L + H})};
  for (std::size_t b = 0; b < count; ++b) {
    const std::size_t row = first_predicted(windows.split, windows.index(b));
    for (std::size_t i = 0; i < L + H; ++i)
      batch.times(b, i) = spec_.stamps ? series_.times[row - L + i] : double(i);
    for (std::size_t v = 0; v < V; ++v) {
      const double* from = series_.values.data() + v * series_.rows() + row;
      std::copy(from - L, from, batch.past.data() + (b * V + v) * L);
      std::copy(from, from + H, batch.future.data() + (b * V + v) * H);
    }
  }
  return batch;
}

SeriesMoments SeriesWindows::moments() const {
  SeriesMoments moments;
  const std::size_t n = rows(Split::train);
  for (std::size_t v = 0; v < series_.variates(); ++v) {
    const double* x = series_.values.data() + v * series_.rows();
    const double mean = std::accumulate(x, x + n, 0.0) / double(n);
    double squares = 0;
    for (std::size_t i = 0; i < n; ++i) squares += (x[i] - mean) * (x[i] - mean);
    moments.mean.push_back(mean);
    moments.deviation.push_back(std::sqrt(squares / double(n)));
  }
  return moments;
}

std::string SeriesWindows::describe() const {
  const std::string words = format_number_of(series_.variates(), "variate") + ", " +
                            format_number_of(series_.rows(), "row");
  if (gaps_.empty()) return words;
  const auto& times = series_.times;
  const std::size_t longest = *std::ranges::max_element(
      gaps_, {}, [&](std::size_t row) { return times[row] - times[row - 1]; });
  return in_words(words, " each ", series_.time_step().words(), ", ",
                  format_number_of(gaps_.size(), "gap"), " that no window crosses (the longest ",
                  format_time(times[longest - 1]), " to ", format_time(times[longest]), ")");
}

std::string SeriesWindows::describe_splits() const {
  return in_words(examples_.train, " windows to train, ", examples_.validation, " to validate, ",
                  examples_.test, " to test");
}

}  // namespace bochner::inline BOCHNER_PRECISION
