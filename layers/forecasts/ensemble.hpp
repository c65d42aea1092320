#pragma once
/// An ensemble of forecasts, each fitted at once, that compete on the last rows of each series.

#include <array>
#include <bochner/base/keys.hpp>
#include <bochner/layers/forecasts/forecast_member.hpp>
#include <bochner/layers/module.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Families of members: names for model.members.
std::vector<std::string> forecast_families();

struct EnsembleSpec {
  std::size_t channels = 1;  ///< variates of all series, each forecast by itself
  std::size_t horizon = 24, lookback = 48;
  std::vector<double> seasons = {};  ///< rows, ascending
  std::vector<std::string> members = forecast_families();
  std::size_t process_channels = 16;
  std::size_t covariates = 0;  ///< of each row, known for the rows to come (C)
};
inline void describe(Keys& keys, EnsembleSpec& spec) {
  keys("seasons", spec.seasons, between(2, 1 << 16),
       "rows after which the series repeat, ascending: [24, 168] for hours of the day and of the "
       "week; none by default");
  keys("members", spec.members, one_of(forecast_families),
       "forecasts that compete: the last value, last seasons and drift (seasonal), regressions on "
       "the lookback (ridge, kernel), exponential smoothing of level, trend and season, the Theta "
       "method, smoothing, ridge and an autoregression without seasons (decomposition), Gaussian "
       "processes (process)");
  keys("process_channels", spec.process_channels, between(0, 1 << 16),
       "most variates, of all series, for which kernels compete, and Gaussian processes of at most "
       "1,500 rows");
}

struct NamedMember {
  std::string name;
  MemberPtr forecast;

  /// Returns whether it repeats the last rows.
  bool is_naive() const { return name.starts_with("last "); }
};
/// Returns the members of a spec, the last value first.
std::vector<NamedMember> ensemble_members(const EnsembleSpec& spec);

/// The result of the competition for one channel.
struct Contest {
  std::vector<double> errors;     ///< (M) mean absolute error over the origins; -1 if not fitted
  std::vector<double> weights;    ///< (M) of the combination; their sum is 1
  std::vector<double> spread;     ///< (H) mean absolute error of the combination by row
  std::array<double, 2> bands;    ///< half widths in spreads, of 80 and 95 %
  std::array<double, 2> covered;  ///< fractions of the errors of the competition within the bands
  double error = 0;               ///< of the combination
  std::size_t naive = 0;          ///< the naive member of least error
  std::vector<double> naive_spread;              ///< (H) like `spread`, of that member
  std::vector<std::size_t> origins;              ///< (O) rows before each forecast, ascending
  std::vector<double> residuals;                 ///< (O, H) truth minus combination
  std::vector<std::vector<double>> states = {};  ///< (M) fitted to all rows, if there is a weight
};
/// Fits the members to the rows before the last 30 %, three horizons and 60 rows, at most half, and
/// twice more in between, forecasts from up to 40 origins among the rest, and combines the six of
/// least squared error. The weights minimise the squared error of the combination, shrunk to those
/// inverse to the squares of the members' (Diebold, Pauly, "The use of prior information in
/// forecast combination", 1990). Bands are conformal: quantiles of the absolute errors in spreads
/// (Vovk, Gammerman, Shafer, 2005), widened like Student's t if few errors are independent. Throws
/// std::invalid_argument for fewer than H + 4 rows.
/// Errors of naive members are those for rows plus `effects` (n), if there are any.
Contest compete(const std::vector<NamedMember>& members, Rows rows, std::size_t horizon,
                Rows effects = {});

/// Returns the mean absolute error of each row of the horizon, over an eighth of it around. (O, H)
/// -> (H)
std::vector<double> spread_of(const std::vector<double>& residuals, std::size_t horizon);
/// Returns how many of the residuals are about independent, at least 2.
double independent_errors(const Contest& contest, std::size_t horizon);

/// Returns the naive member of least error.
std::size_t best_naive(const std::vector<NamedMember>& members, const std::vector<double>& errors);

/// Returns the effects of covariates (C, n) on n rows: least squares of seasonal differences, or
/// zeros if those of the first 70 % do not lower the squares of the rest. (C)
std::vector<double> covariate_effects(Rows rows, Rows covariates, std::size_t season);

/// A forecast of the H rows to come, and the half widths of its bands. (H) each
struct EnsembleForecast {
  std::vector<double> mean;
  std::array<std::vector<double>, 2> half_widths;  ///< of 80 and of 95 %
  std::vector<double> naive = {};                  ///< of the naive member of least error
};

/// Members, their weights and the spread of their errors, for each channel, as buffers.
class Ensemble : public Module {
 public:
  static constexpr std::size_t most_origins = 40;

  explicit Ensemble(const EnsembleSpec& spec);
  const std::vector<NamedMember>& members() const { return members_; }
  /// Lets the members compete for each channel, for its rows without the effects of its covariates:
  /// (C, n) each, or none.
  void fit(const std::vector<std::vector<double>>& channels,
           const std::vector<std::vector<double>>& covariates = {});
  /// Returns the rows that the forecast of a channel needs.
  std::size_t least_rows(std::size_t channel) const;
  /// Forecasts from n rows of a channel, at least least_rows(), and covariates (C, n + H).
  EnsembleForecast forecast(std::size_t channel, Rows rows, Rows covariates = {}) const;
  /// Repeats a value, with the bands of the channel, where there are fewer rows than least_rows().
  EnsembleForecast repeated(std::size_t channel, double value) const;
  /// Returns the members' errors, weights and bands as fit() found them, without states.
  Contest contest(std::size_t channel) const;
  void visit(Visitor& visitor) override;

 private:
  std::vector<double> state(std::size_t member, std::size_t channel) const;
  std::size_t naive_member(std::size_t channel) const;
  double effect(std::size_t channel, Rows covariates, std::size_t row) const;
  void add_bands(std::size_t channel, EnsembleForecast& forecast) const;

  std::size_t channels_, horizon_, season_;
  std::vector<NamedMember> members_;
  std::vector<Tensor> states_;  // (channels, size) for each member
  Tensor errors_, weights_;     // (channels, M)
  Tensor effects_;              // (channels, C)
  Tensor origins_, residuals_;  // (channels, O), 0 for none; (channels, O, H)
  Tensor naive_spread_;         // (channels, H)
  Tensor spread_, bands_;       // (channels, H), (channels, 5): bands, error, coverage
};

}  // namespace bochner::inline BOCHNER_PRECISION
