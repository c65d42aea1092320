#pragma once
#include <bochner/autodiff/tensor.hpp>
#include <bochner/base/keys.hpp>
#include <bochner/base/time_array.hpp>
#include <bochner/data/dataset.hpp>
#include <bochner/data/series/series_table.hpp>

namespace bochner {

struct SeriesSpec {
  std::size_t lookback = 336, horizon = 96;  ///< rows
  std::size_t stride = 1;                    ///< rows from one window to the next
  /// Training, validation and test, in this order: fractions of the rows if none is above 1, else
  /// rows. The rest is not used.
  std::vector<double> splits = {0.7, 0.1, 0.2};
  bool stamps = false;     ///< batches hold the times of rows, else their numbers
  double drop = 0;         ///< fraction of randomly removed rows
  std::size_t pause = 1;   ///< most steps between rows of a window, 0 for any
  std::uint64_t seed = 1;  ///< seed of the training order and of the removal
  std::string sizes = {};  ///< keys of a window's size in errors, if not lookback and horizon
};
inline void describe(Keys& keys, SeriesSpec& spec) {
  keys("splits", spec.splits, at_least(0),
       "training, validation and test, in this order: fractions of the rows, or rows if a number "
       "is above 1");
  keys("lookback", spec.lookback, between(1, 1 << 20), "rows that the model sees (L)");
  keys.when(when("model.kind", {"forecaster", "ensemble"}))(
      "horizon", spec.horizon, between(1, 1 << 20), "rows that are forecast (H)");
  keys("stride", spec.stride, between(1, 1 << 20), "rows from one window to the next");
  keys.when(when("model.backbone", {"rows"}))(
      "stamps", spec.stamps,
      "time kernels and encodings use the time stamps, in median gaps, not the numbers of rows",
      of_model);
  keys("drop", spec.drop, below(0, 1),
       "fraction of the rows removed at random, by train.seed, to try irregular stamps; "
       "data.splits count all rows");
  keys("pause", spec.pause, between(0, 1 << 20),
       "longest gap inside a window, in steps, of rows with dates at a regular step (hours, "
       "business days, months); 0 for any. data.stamps and data.drop ignore it");
}

/// Windows in the unit of the data: pasts and their futures, the times (stamps, or 0, 1, 2, ...)
/// and covariates of both, and the series of each. (B, V, L), (B, V, H), (B, L + H), (B, C, L + H),
/// (B)
struct SeriesBatch {
  Tensor past, future;
  Times times;
  Tensor covariates;
  std::vector<std::size_t> series;
};

/// Mean and standard deviation (divisor n) of each variate, series by series. (V), (V)
struct SeriesMoments {
  std::vector<double> mean, deviation;
};

/// Windows of `lookback` rows and the `horizon` rows after them. The future is within its split;
/// the past of a validation or test window may reach back into the previous split (the protocol of
/// Zhou et al., "Informer", 2021). No window crosses a gap in time (SeriesSpec::pause) or a border
/// between series; each series has its own splits. Of several series, those too short to train on
/// are left out. Training visits windows in another order in every epoch. Throws DataError if a
/// split that has rows has no window, or stamps are missing.
class SeriesWindows : public Dataset {
 public:
  SeriesWindows(TimeSeries series, const SeriesSpec& spec);
  SeriesWindows(std::vector<TimeSeries> all, const SeriesSpec& spec);

  const TimeSeries& series(std::size_t number = 0) const { return parts_[number].series; }
  std::size_t count() const { return parts_.size(); }
  /// Returns the ids of series that are too short to train on.
  const std::vector<std::vector<std::string>>& left_out() const { return left_out_; }
  std::optional<std::size_t> called(const std::vector<std::string>& id) const;
  const SeriesSpec& spec() const { return spec_; }
  /// Returns the number of rows of a split of one series.
  std::size_t rows(Split split, std::size_t number = 0) const {
    return parts_[number].end(split) - parts_[number].begin(split);
  }
  /// Begin of a window's future; windows are in order of time, series by series.
  struct Place {
    std::size_t series, row;
  };
  Place place(Split split, std::uint64_t window) const { return windows_[int(split)][window]; }
  std::size_t first_predicted(Split split, std::uint64_t window) const {
    return place(split, window).row;
  }
  SeriesBatch batch(const Examples& windows) const;
  /// Returns whether windows cross irregular steps, or many that are longer without a rule.
  bool crosses_pauses() const;
  /// Returns the moments of the training rows.
  SeriesMoments moments() const;
  /// Returns the moments of the covariates over the training rows of all series. (C), (C)
  SeriesMoments covariate_moments() const;
  std::uint64_t tokens_per_example() const override { return series().variates() * spec_.horizon; }
  std::uint64_t fingerprint() const override;

 protected:
  /// Describes the data: "7 variates, 17420 rows", and the gaps.
  std::string describe() const override;
  /// Describes the splits: "8209 windows to train, 2785 to validate, 2785 to test".
  std::string describe_splits() const override;

 private:
  struct Part {
    TimeSeries series;
    std::vector<std::size_t> borders;  ///< rows at which splits begin and end (4)
    std::vector<std::size_t> gaps;     ///< rows after a gap

    std::size_t begin(Split split) const { return borders[std::size_t(split)]; }
    std::size_t end(Split split) const { return borders[std::size_t(split) + 1]; }
  };
  Part part_of(TimeSeries series, std::size_t number) const;
  std::vector<std::size_t> find_gaps(const TimeSeries& series) const;
  std::vector<std::size_t> find_windows(const Part& part, Split split) const;
  void require_windows(Split split) const;
  /// Warns of columns with coarse steps. Throws DataError if one is constant as reals.
  void find_coarse_columns();
  std::string sizes() const;
  std::string gaps_in_words() const;

  SeriesSpec spec_;
  std::vector<Part> parts_;
  std::vector<std::string> too_short_;  ///< series that were left out
  std::vector<std::vector<std::string>> left_out_;
  std::string coarse_;             ///< warning about a coarse column, or ""
  std::vector<Place> windows_[3];  ///< windows of each split
};

}  // namespace bochner
