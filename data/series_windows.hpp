#pragma once
#include <bochner/autodiff/keys.hpp>
#include <bochner/autodiff/tensor.hpp>
#include <bochner/autodiff/times.hpp>
#include <bochner/data/dataset.hpp>
#include <bochner/data/time_series.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct SeriesSpec {
  std::size_t lookback = 336, horizon = 96;  ///< rows
  std::size_t stride = 1;                    ///< rows from one window to the next
  /// Of training, validation and test, one after the other: fractions of the rows where none is
  /// above 1, else rows. What is left over at the end is not used.
  std::vector<double> splits = {0.7, 0.1, 0.2};
  bool stamps = false;     ///< batches have the times of rows, else their numbers
  double drop = 0;         ///< fraction of the rows that is removed at random
  std::size_t pause = 1;   ///< steps from row to row in a window at most, 0 for any
  std::uint64_t seed = 1;  ///< of the training order, and of what is removed
};
inline void describe(Keys& keys, SeriesSpec& spec) {
  keys("splits", spec.splits, at_least(0),
       "series: training, validation and test, one after the other: fractions of the rows, or rows "
       "where a number is above 1");
  keys("lookback", spec.lookback, between(1, 1 << 20), "series: rows that a forecaster sees (L)");
  keys("horizon", spec.horizon, between(1, 1 << 20), "series: rows that it forecasts (H)");
  keys("stride", spec.stride, between(1, 1 << 20), "series: rows from one window to the next");
  keys("stamps", spec.stamps,
       "series: the model sees the time stamps of rows, so that time kernels and encodings of time "
       "count real time, in median gaps; else they count rows (model.backbone = \"rows\")");
  keys("drop", spec.drop, below(0, 1),
       "series: fraction of the rows that is removed at random, by train.seed, to try irregular "
       "stamps; data.splits count the rows before that");
  keys("pause", spec.pause, between(0, 1 << 20),
       "series: steps from one row to the next in a window at most, where rows have dates at a "
       "regular step (hours, business days, months): no window goes across a longer gap; 0 for "
       "any. data.stamps and data.drop go across all",
       {.formerly = 0});
}

/// Pasts and the futures that belong to them, in the unit of the data, and the times of both:
/// stamps, or 0, 1, 2, ... (B, V, L), (B, V, H), (B, L + H)
struct SeriesBatch {
  Tensor past, future;
  Times times;
};

/// Mean and standard deviation (divisor n) of each variate. (V), (V)
struct SeriesMoments {
  std::vector<double> mean, deviation;
};

/// Windows of `lookback` rows and the `horizon` rows behind them. The future lies within its split;
/// the past of a validation or test window may reach back into the split before (the protocol of
/// Zhou et al., "Informer", 2021). No window goes across a gap in time (SeriesSpec::pause).
/// Training visits its windows in another order in every epoch.
/// Throws DataError when a split that has rows has none to predict, or there are no stamps to see.
class SeriesWindows : public Dataset {
 public:
  SeriesWindows(TimeSeries series, const SeriesSpec& spec);

  const TimeSeries& series() const { return series_; }
  const SeriesSpec& spec() const { return spec_; }
  std::size_t rows(Split split) const { return end(split) - begin(split); }
  /// Row at which the future of a window begins, windows in the order of time.
  std::size_t first_predicted(Split split, std::uint64_t window) const;
  SeriesBatch batch(const Examples& windows) const;
  /// Of the training rows only.
  SeriesMoments moments() const;
  /// Values that are forecast.
  std::uint64_t tokens_per_example() const override { return series_.variates() * spec_.horizon; }
  std::uint64_t fingerprint() const override { return bochner::fingerprint(series_); }

 protected:
  /// "7 variates, 17420 rows", and the gaps between them
  std::string describe() const override;
  /// "8209 windows to train, 2785 to validate, 2785 to test"
  std::string describe_splits() const override;

 private:
  std::size_t begin(Split split) const { return borders_[std::size_t(split)]; }
  std::size_t end(Split split) const { return borders_[std::size_t(split) + 1]; }
  /// Rows before which there is a gap.
  std::vector<std::size_t> find_gaps() const;
  std::vector<std::size_t> find_windows(Split split) const;

  TimeSeries series_;
  SeriesSpec spec_;
  std::vector<std::size_t> borders_;  ///< of the splits: 4 rows
  std::vector<std::size_t> gaps_;
  std::vector<std::size_t> windows_[3];  ///< of each split: rows at which futures begin
};

}  // namespace bochner::inline BOCHNER_PRECISION
