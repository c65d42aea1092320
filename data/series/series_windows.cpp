#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/files/digest.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <bochner/data/series/moments.hpp>
#include <bochner/data/series/series_windows.hpp>

namespace bochner {
namespace {

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

xt::xarray<double> kept_columns(const xt::xarray<double>& matrix,
                                const std::vector<std::size_t>& kept) {
  auto left = xt::xarray<double>::from_shape({matrix.shape()[0], kept.size()});
  for (std::size_t v = 0; v < matrix.shape()[0]; ++v)
    for (std::size_t i = 0; i < kept.size(); ++i) left(v, i) = matrix(v, kept[i]);
  return left;
}

/// Removes each row with probability `drop` and adjusts `borders`. `number` identifies the series.
void thin(TimeSeries& series, std::size_t number, const SeriesSpec& spec,
          std::vector<std::size_t>& borders) {
  const RandomFunction random{spec.seed, Purpose::examples, stream_of("series.drop")};
  const std::uint64_t first = std::uint64_t(number) << 40;
  std::vector<std::size_t> kept;
  std::vector<std::size_t> thinned(borders.size());
  for (std::size_t row = 0; row < series.rows(); ++row) {
    if (random.uniform(first + row) < spec.drop) continue;
    kept.push_back(row);
    for (std::size_t i = 0; i < borders.size(); ++i) thinned[i] += row < borders[i];
  }
  TimeSeries left{series.names, kept_columns(series.values, kept), {}, series.id, {}, series.clock};
  if (series.channels() > 0) left.covariates = kept_columns(series.covariates, kept);
  for (const std::size_t row : kept)
    if (!series.times.empty()) left.times.push_back(series.times[row]);
  series = std::move(left);
  borders = std::move(thinned);
}

struct Run {
  const double* x;
  std::size_t n;
};

/// Appends mean and deviation of all numbers in some runs of a column.
void add_moments(SeriesMoments& moments, const std::vector<Run>& runs, const std::string& column) {
  const auto each = [&](const auto& action) {
    for (const auto& [x, count] : runs) std::for_each(x, x + count, action);
  };
  const auto [mean, deviation] = resolved(moments_of(each), column);
  moments.mean.push_back(mean);
  moments.deviation.push_back(deviation);
}

std::string column_words(const TimeSeries& series, std::size_t variate) {
  return series.names.empty() ? in_words("variate ", variate + 1)
                              : "column " + excerpt(series.names[variate]);
}

void copy_columns(const xt::xarray<double>& from, std::size_t first, std::size_t count, real* to) {
  const std::size_t width = from.shape()[1];
  for (std::size_t v = 0; v < from.shape()[0]; ++v, to += count)
    std::copy_n(from.data() + v * width + first, count, to);
}

constexpr Split all_splits[] = {Split::train, Split::validation, Split::test};

}  // namespace

SeriesWindows::SeriesWindows(TimeSeries series, const SeriesSpec& spec)
    : SeriesWindows(std::vector<TimeSeries>{std::move(series)}, spec) {}

SeriesWindows::SeriesWindows(std::vector<TimeSeries> all, const SeriesSpec& spec) : spec_(spec) {
  require(spec.lookback >= 1 && spec.horizon >= 1 && spec.stride >= 1, "series",
          "lookback, horizon and stride must be at least 1");
  require(!all.empty(), "series", "no series");
  for (std::size_t number = 0; number < all.size(); ++number) {
    const std::string name = words_of(all[number].id);
    const std::size_t rows = all[number].rows();
    const std::vector<std::string> id = all[number].id;
    Part part = part_of(std::move(all[number]), number);
    if (all.size() > 1 && find_windows(part, Split::train).empty()) {
      too_short_.push_back(in_words(name, " (", format_number_of(rows, "row"), ")"));
      left_out_.push_back(id);
      continue;
    }
    for (const Split split : all_splits)
      for (const std::size_t row : find_windows(part, split))
        windows_[int(split)].push_back({parts_.size(), row});
    parts_.push_back(std::move(part));
  }
  if (parts_.empty())
    throw DataError("no series is long enough to train on, for ", sizes(), ": ",
                    some_of(too_short_), "; shorten them or change data.splits");
  find_coarse_columns();
  examples_ = {spec.seed, windows_[0].size(), windows_[1].size(), windows_[2].size()};
  for (const Split split : all_splits) require_windows(split);
}

void SeriesWindows::find_coarse_columns() {
  for (std::size_t number = 0; number < count(); ++number) {
    const TimeSeries& one = series(number);
    for (std::size_t v = 0; v < one.variates(); ++v) {
      const std::string words = coarse_steps(one.values.data() + v * one.rows(),
                                             rows(Split::train, number), column_words(one, v));
      if (!words.empty() && coarse_.empty()) coarse_ = words;
    }
  }
}

std::string SeriesWindows::sizes() const {
  if (!spec_.sizes.empty()) return spec_.sizes;
  return in_words("data.lookback = ", spec_.lookback, " and data.horizon = ", spec_.horizon);
}

SeriesWindows::Part SeriesWindows::part_of(TimeSeries series, std::size_t number) const {
  const bool is_one = series.id.empty();
  Part part{std::move(series), {}, {}};
  try {
    part.borders = split_borders(spec_.splits, part.series.rows());
  } catch (const DataError&) {
    if (is_one) throw;
    part.borders.assign(4, 0);  // too short for splits that count rows
  }
  if (spec_.drop > 0) thin(part.series, number, spec_, part.borders);
  if (spec_.stamps && part.series.times.empty())
    throw DataError("data.stamps needs a column of times; name it as data.time_column");
  part.gaps = find_gaps(part.series);
  return part;
}

void SeriesWindows::require_windows(Split split) const {
  std::size_t most = 0;
  bool gaps = false;
  for (std::size_t number = 0; number < parts_.size(); ++number) {
    most = std::max(most, rows(split, number));
    gaps |= !parts_[number].gaps.empty();
  }
  if (examples(split) > 0 || (most == 0 && split != Split::train)) return;
  throw DataError("the ", name_of(split), " split has ", parts_.size() > 1 ? "at most " : "", most,
                  " rows", parts_.size() > 1 ? " of a series" : "", ", too few for ", sizes(),
                  gaps ? " between its gaps (data.pause)" : "",
                  "; shorten them or change data.splits");
}

std::optional<std::size_t> SeriesWindows::called(const std::vector<std::string>& id) const {
  for (std::size_t number = 0; number < parts_.size(); ++number)
    if (parts_[number].series.id == id) return number;
  return std::nullopt;
}

std::vector<std::size_t> SeriesWindows::find_gaps(const TimeSeries& series) const {
  std::vector<std::size_t> gaps;
  if (spec_.pause == 0 || spec_.stamps || spec_.drop > 0) return gaps;
  const TimeStep step = series.time_step();
  for (std::size_t row = 1; row < series.times.size(); ++row)
    if (step.between(series.times[row - 1], series.times[row]) > spec_.pause) gaps.push_back(row);
  return gaps;
}

bool SeriesWindows::crosses_pauses() const {
  return std::ranges::any_of(parts_, [](const Part& part) {
    const TimeStep step = part.series.time_step();
    const std::vector<double>& times = part.series.times;
    if (times.size() < 2 || step.counts_dates() || step.has_pauses()) return false;
    if (!step.is_regular()) return true;
    std::size_t crossed = 0;
    for (std::size_t row = 1; row < times.size(); ++row)
      crossed += step.between(times[row - 1], times[row]) > 1 &&
                 !std::ranges::binary_search(part.gaps, row);
    return 100 * crossed > times.size();
  });
}

std::vector<std::size_t> SeriesWindows::find_windows(const Part& part, Split split) const {
  std::vector<std::size_t> borders = part.gaps, windows;
  borders.push_back(part.series.rows());
  std::size_t from = 0;
  for (const std::size_t to : borders) {
    for (std::size_t row = std::max(part.begin(split), from + spec_.lookback);
         row + spec_.horizon <= std::min(part.end(split), to); row += spec_.stride)
      windows.push_back(row);
    from = to;
  }
  return windows;
}

SeriesBatch SeriesWindows::batch(const Examples& windows) const {
  const std::size_t B = windows.size(), V = series().variates(), L = spec_.lookback,
                    H = spec_.horizon, C = series().channels();
  SeriesBatch batch{uninitialized({B, V, L}),
                    uninitialized({B, V, H}),
                    Times(std::vector<std::size_t>{B, L + H}),
                    C > 0 ? uninitialized({B, C, L + H}) : Tensor(),
                    {}};
  for (std::size_t b = 0; b < B; ++b) {
    const auto [number, row] = place(windows.split, windows.index(b));
    const TimeSeries& one = series(number);
    for (std::size_t i = 0; i < L + H; ++i)
      batch.times(b, i) = spec_.stamps ? one.times[row - L + i] : double(i);
    copy_columns(one.values, row - L, L, batch.past.data() + b * V * L);
    copy_columns(one.values, row, H, batch.future.data() + b * V * H);
    if (C > 0)
      copy_columns(one.covariates, row - L, L + H, batch.covariates.data() + b * C * (L + H));
    batch.series.push_back(number);
  }
  return batch;
}

SeriesMoments SeriesWindows::moments() const {
  SeriesMoments moments;
  for (std::size_t number = 0; number < count(); ++number) {
    const TimeSeries& one = series(number);
    for (std::size_t v = 0; v < one.variates(); ++v)
      add_moments(moments, {{one.values.data() + v * one.rows(), rows(Split::train, number)}},
                  column_words(one, v));
  }
  return moments;
}

SeriesMoments SeriesWindows::covariate_moments() const {
  SeriesMoments moments;
  for (std::size_t c = 0; c < series().channels(); ++c) {
    std::vector<Run> runs;
    for (std::size_t number = 0; number < count(); ++number)
      runs.push_back({series(number).covariates.data() + c * series(number).rows(),
                      rows(Split::train, number)});
    add_moments(moments, runs, in_words("covariate ", c + 1));
  }
  return moments;
}

std::uint64_t SeriesWindows::fingerprint() const {
  std::uint64_t hash = bochner::fingerprint(series());
  for (std::size_t number = 1; number < count(); ++number) {
    const std::uint64_t next = bochner::fingerprint(series(number));
    hash = digest_of(&next, sizeof next, hash);
  }
  return hash;
}

std::string SeriesWindows::gaps_in_words() const {
  std::size_t count = 0, longest_row = 0;
  const Part* longest = nullptr;
  double span = 0;
  for (const Part& part : parts_)
    for (const std::size_t row : part.gaps) {
      const double here = part.series.times[row] - part.series.times[row - 1];
      if (here > span) span = here, longest = &part, longest_row = row;
      ++count;
    }
  if (!longest) return "";
  const TimeSeries& series = longest->series;
  return in_words(" each ", series.time_step().words(), ", ", format_number_of(count, "gap"),
                  " that no window crosses (the longest ",
                  series.time_text(series.times[longest_row - 1]), " to ",
                  series.time_text(series.times[longest_row]),
                  parts_.size() > 1 ? " of " + words_of(series.id) : "", ")");
}

std::string SeriesWindows::describe() const {
  std::size_t rows = 0;
  for (const Part& part : parts_) rows += part.series.rows();
  const std::string several = series().id.empty() ? "" : in_words(parts_.size(), " series of ");
  std::string words = in_words(several, format_number_of(series().variates(), "variate"), ", ",
                               format_number_of(rows, "row"), gaps_in_words());
  if (const std::size_t C = series().channels(); C > 0)
    words += ", " + format_number_of(C, "covariate");
  if (!too_short_.empty())
    words += in_words(", without ", some_of(too_short_), ": too short to train on");
  if (!coarse_.empty()) words += "; " + coarse_;
  return words;
}

std::string SeriesWindows::describe_splits() const {
  return in_words(examples_.train, " windows to train, ", examples_.validation, " to validate, ",
                  examples_.test, " to test");
}

}  // namespace bochner
