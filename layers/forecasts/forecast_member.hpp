#pragma once
/// Ways to forecast one series of numbers that are fitted at once, without gradients: they compete
/// in an Ensemble. In double.

#include <bochner/autodiff/real.hpp>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Rows of a series at equal steps, in order of time.
using Rows = std::span<const double>;

/// Sizes that members share, in rows.
struct MemberSpec {
  std::size_t horizon = 1;                ///< rows to forecast (H)
  std::size_t lags = 2;                   ///< rows that a linear map sees (L)
  std::vector<std::size_t> seasons = {};  ///< ascending, each at least 2; none without a season
  std::size_t windows = 3072;             ///< most windows that a linear map is fitted to

  std::size_t season() const { return seasons.empty() ? 1 : seasons.front(); }
};

/// A way to forecast. What fit() learns is a list of numbers whose length depends on the spec only,
/// so that an ensemble keeps those of many series in one tensor.
class ForecastMember {
 public:
  virtual ~ForecastMember() = default;
  /// Returns how many numbers fit() sets.
  virtual std::size_t size() const = 0;
  /// Returns the rows that forecast() needs.
  virtual std::size_t least_rows() const = 0;
  /// Sets the state (size) from rows; returns false if they are too few or unsuitable.
  virtual bool fit(Rows rows, std::span<double> state) const = 0;
  /// Returns the values that follow rows, at least least_rows(). (H)
  virtual std::vector<double> forecast(Rows rows, std::span<const double> state) const = 0;
};
using MemberPtr = std::unique_ptr<ForecastMember>;

/// Repeats the last `season` rows, or the last value for 1; with `drift`, plus the mean change of
/// that season since the first one seen.
MemberPtr make_seasonal(const MemberSpec& spec, std::size_t season, bool drift);

/// Ridge regression of the next H rows on the last L, with the penalty of the least absolute
/// leave-one-out error: a RidgePath. `relative`: to the last value.
MemberPtr make_ridge(const MemberSpec& spec, bool relative);

/// Kernel ridge regression of the next H rows on the last L, both relative to the last value: the
/// mean of a Gaussian process with a squared exponential kernel (Rasmussen, Williams, "Gaussian
/// processes for machine learning", 2006, sections 2.2 and 5.4.2). Width and penalty have the least
/// absolute leave-one-out error. Sees 1,024 windows, and is not fitted to fewer.
MemberPtr make_kernel_ridge(const MemberSpec& spec);

/// Exponential smoothing of level, damped trend and additive season (Hyndman et al., "Forecasting
/// with exponential smoothing", 2008, ETS(A, Ad, A)), by least squares of one-step errors.
MemberPtr make_smoothing(const MemberSpec& spec);

/// Gaussian process with linear trend, smooth changes, a seasonal kernel and two spectral
/// components of learned frequency, likeliest under log-normal priors: Corani, Benavoli, Zaffalon,
/// "Time series forecasting with Gaussian processes needs priors", 2021. Sees the last 300 rows.
MemberPtr make_process(const MemberSpec& spec);

/// Theta method: exponential smoothing of the level, with half the slope of a straight line
/// (Hyndman, Billah, "Unmasking the Theta method", 2003).
MemberPtr make_theta(const MemberSpec& spec);

/// Autoregression on the last rows, iterated, of the order with the least AICc.
MemberPtr make_autoregression(const MemberSpec& spec);

/// Forecasts by another member the rows without their seasons, at least one: mean deviations from
/// the moving average over a season, in which later seasons weigh more.
MemberPtr make_deseasonalised(const MemberSpec& spec, MemberPtr of);

/// Forecasts the logarithm of positive rows by another member.
MemberPtr make_logarithmic(MemberPtr of);

}  // namespace bochner::inline BOCHNER_PRECISION
