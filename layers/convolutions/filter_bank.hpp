#pragma once
/// Random convolutions of series, pooled to features: the windows of a series through filters that
/// are drawn from a spectral density. After ROCKET (Dempster, Petitjean, Webb, 2020) and Hydra
/// (Dempster, Schmidt, Webb, 2023).

#include <bochner/autodiff/ops/group_responses.hpp>
#include <bochner/layers/spectral/density.hpp>
#include <span>

namespace bochner::inline BOCHNER_PRECISION {

struct FilterBankSpec {
  static constexpr std::size_t group = filters_of_group;  ///< filters that compete

  std::size_t groups = 32, taps = 9;
  bool differences = true, each_scale = false;
  double temperature = 0.3;
  std::string standardize = "channel";
  std::vector<std::string> pools = {"winners", "positive"};
  DensitySpec density = {.draws = "orthogonal", .log_scale = 0};

  // set by the task
  std::size_t channels = 1, length = 1;  ///< of the series, rows of the longest
  std::uint64_t seed = 1;
  std::size_t filters() const { return groups * group; }
};
/// Also of other models of series.
inline void describe_standardize(Keys& keys, std::string& standardize) {
  keys("standardize", standardize, one_of({"channel", "series"}),
       "mean 0 and deviation 1: of each channel in the training series, or of each series too");
}
inline void describe(Keys& keys, FilterBankSpec& spec) {
  keys("groups", spec.groups, between(1, 4096),
       "groups of 8 filters for each dilation, of the rows and of their differences");
  keys("taps", spec.taps, between(2, 64), "rows that a filter sees, at the distance of a dilation");
  keys("differences", spec.differences, "filters see the differences of rows too");
  describe_standardize(keys, spec.standardize);
  keys("pools", spec.pools, one_of({"winners", "positive", "maximum", "mean"}),
       "features of a filter: how often and how far it has the largest response of its group and "
       "how often the smallest (winners), how often its response is above a quantile of the "
       "training series (positive), its largest and its mean response");
  keys("each_scale", spec.each_scale,
       "a density for each dilation, of the rows and of their differences, instead of one for all");
  keys("temperature", spec.temperature, Bounds{{1e-3, 1e3, true}},
       "of the counts in training, in standard deviations of the responses of a group: gradients "
       "need counts without jumps");
  keys.section("density", spec.density);
}

/// A series by channel, missing values NaN. (channels, rows)
using SeriesValues = std::span<const float>;

/// Sums over the rows of a series of what a filter has: its responses where they are the largest of
/// the group, how often they are the smallest, how often above the quantile, all of them, and the
/// largest.
struct FilterTotals {
  double wins = 0, least = 0, above = 0, sum = 0, largest = 0;
};

/// Features of series of any length. A group of filters sees a sum of at most eight channels with
/// random weights, which training changes. Filters have mean 0; the response of a filter to a
/// window is the sum of products over taps, with zeros beyond the ends of a series. Missing values
/// lie on lines between those of their channel.
class FilterBank : public Module {
 public:
  explicit FilterBank(const FilterBankSpec& spec);
  /// Returns the number of features.
  std::size_t size() const;
  /// Sets the units of the channels and the quantiles from training series.
  void fit(const std::vector<SeriesValues>& series);
  /// Returns the features of each series. (n, size)
  Tensor features(const std::vector<SeriesValues>& series);
  /// Returns features with soft counts, which have gradients. (n, size)
  Var soft_features(Tape& tape, const std::vector<SeriesValues>& series);
  void visit(Visitor& visitor) override;

  /// A dilation of the rows or of their differences.
  struct Scale {
    std::size_t dilation;
    bool differences;
  };
  const std::vector<Scale>& scales() const { return scales_; }
  /// Returns all filters, centred and with absolute values that sum to 1. (scales, filters, taps)
  Tensor filters();
  Var filters(Tape& tape);

  /// What a feature counts: rows of a pool in which a filter of a scale has the smallest response
  /// (`least`) or another part of the pool.
  struct Origin {
    std::size_t scale, filter;
    std::string pool;
    bool least;
  };
  Origin origin(std::size_t feature) const;
  /// The signal that a filter sees, and the rows that a feature counts: of "maximum" the row of the
  /// largest response, of "mean" those of positive responses.
  struct Firing {
    std::vector<real> signal;
    std::vector<std::size_t> rows;
  };
  Firing firing(SeriesValues series, const Origin& origin);

  const FilterBankSpec& spec() const { return spec_; }
  /// Returns the weights of the channels in the sum that a group sees. (scales, groups, channels)
  const Tensor& channel_weights() const { return weights_.value(); }
  /// Returns a value of a channel in its unit.
  real in_unit(float value, std::size_t channel) const {
    return real((double(value) - double(units_(channel, 0))) / double(units_(channel, 1)));
  }
  /// Returns the quantiles of the responses of the training series. (scales, filters)
  const Tensor& quantiles() const { return quantiles_; }
  /// Writes the features of a group of a scale to those of a series of so many responses. (size)
  void write_features(std::size_t scale, std::size_t group,
                      const FilterTotals (&totals)[filters_of_group], double rows, real* out) const;

 private:
  /// Returns a series by channel in its units, without missing values.
  std::vector<real> standardized(SeriesValues series) const;
  /// Sets the quantiles and deviations of responses.
  void fit_quantiles(const std::vector<SeriesValues>& series);
  /// Returns what a scale sees of a series by channel: its rows or their differences.
  std::vector<real> rows_of(const std::vector<real>& series, std::size_t scale) const;
  Var soft_features_of(const Var& filters, const Var& weights,
                       const std::vector<std::vector<real>>& series, std::size_t scale) const;
  /// Calls take(scale, group, responses (8, rows), rows) for each group. `series` by channel.
  template <class Take>
  void respond(const std::vector<real>& series, const Tensor& filters, const Take& take) const;

  FilterBankSpec spec_;
  std::vector<Scale> scales_;
  std::unique_ptr<SpectralDensity> density_;
  Tensor units_;       // (channels, 2): mean and deviation
  Parameter weights_;  // (scales, groups, channels)
  Tensor mask_;        // 0 for weights that stay 0
  Tensor quantiles_;   // (scales, filters)
  Tensor deviations_;  // of the responses (scales, groups)
};

}  // namespace bochner::inline BOCHNER_PRECISION
