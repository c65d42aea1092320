#include <algorithm>
#include <array>
#include <bochner/base/numeric/minimise.hpp>
#include <bochner/layers/forecasts/forecast_member.hpp>
#include <cmath>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t most_smoothed = 1000, fewest_smoothed = 6;
constexpr double least_damping = 0.8;

/// Rates of level, trend and season, and the factor by which the trend is damped in each row. The
/// rate of the trend is a part of that of the level, the rate of the season a part of the rest.
struct SmoothingRates {
  double level, trend, season, damping;

  explicit SmoothingRates(std::span<const double> state)
      : level(state[0]),
        trend(state[0] * state[1]),
        season((1 - state[0]) * state[2]),
        damping(state[3]) {}
};

/// Level, trend and season before the first row, from the first seasons.
struct SmoothingState {
  double level = 0, trend = 0;
  std::vector<double> season;  ///< (m), of the row to come first

  SmoothingState(Rows rows, std::size_t m) : season(m) {
    const std::size_t seasons = std::min<std::size_t>(rows.size() / m, m > 1 ? 3 : 10),
                      n = seasons * m;
    const auto mean = [&](std::size_t first) {
      return std::accumulate(rows.begin() + std::ptrdiff_t(first),
                             rows.begin() + std::ptrdiff_t(first + m), 0.0) /
             double(m);
    };
    trend = seasons > 1 ? (mean(n - m) - mean(0)) / double(n - m) : 0;
    for (std::size_t i = 0; i < n; ++i)
      season[i % m] += (rows[i] - trend * double(i)) / double(seasons);
    level = std::accumulate(season.begin(), season.end(), 0.0) / double(m);
    for (double& s : season) s -= level;
    level -= trend;
  }

  /// Returns the error of the forecast of row i, and takes it in.
  double take(double row, std::size_t i, const SmoothingRates& rates) {
    double& s = season[i % season.size()];
    trend *= rates.damping;
    const double error = row - (level + trend + s);
    level += trend + rates.level * error;
    trend += rates.trend * error;
    if (season.size() > 1) s += rates.season * error;
    return error;
  }
};

/// State: rate of the level, parts of the trend's and the season's, damping.
class Smoothing : public ForecastMember {
 public:
  explicit Smoothing(const MemberSpec& spec) : horizon_(spec.horizon), season_(spec.season()) {}

  std::size_t size() const override { return 4; }
  std::size_t least_rows() const override { return std::max(fewest_smoothed, 2 * season_); }

  bool fit(Rows rows, std::span<double> state) const override {
    if (rows.size() < least_rows() + 1) return false;
    const std::vector<double> low = {1e-4, 0, 0, least_damping}, high = {0.9999, 1, 1, 1};
    const Rows seen = recent(rows);
    const SmoothFunction f = [&](const std::vector<double>& x, std::vector<double>& gradient) {
      return with_slopes(seen, x, low, high, gradient);
    };
    Minimum best{{}, INFINITY};
    for (const auto& start : {std::vector{0.5, 0.1, 0.1, 0.98},
                              {0.1, 0.05, 0.05, 0.98},
                              {0.9, 0.3, 0.5, 0.9},
                              {0.3, 0.3, 0.1, 1.0}}) {
      Minimum found = minimise_in_box(f, start, low, high, 1e-5, 60);
      if (found.value < best.value) best = std::move(found);
    }
    if (best.x.empty()) return false;
    std::ranges::copy(best.x, state.begin());
    return true;
  }

  std::vector<double> forecast(Rows rows, std::span<const double> state) const override {
    const Rows seen = recent(rows);
    const SmoothingRates rates(state);
    SmoothingState now(seen, season_);
    for (std::size_t i = 0; i < seen.size(); ++i) now.take(seen[i], i, rates);
    std::vector<double> values(horizon_);
    for (std::size_t h = 0; h < horizon_; ++h) {
      now.trend *= rates.damping;
      now.level += now.trend;
      values[h] = now.level + now.season[(seen.size() + h) % season_];
    }
    return values;
  }

 private:
  static Rows recent(Rows rows) { return rows.last(std::min(rows.size(), most_smoothed)); }

  /// Returns the logarithm of the mean squared error of one step.
  double loss(Rows rows, std::span<const double> state) const {
    const SmoothingRates rates(state);
    SmoothingState now(rows, season_);
    double squares = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double error = now.take(rows[i], i, rates);
      squares += error * error;
    }
    return std::log(squares / double(rows.size()) + 1e-300);
  }

  /// Returns the loss, with slopes by differences within the box.
  double with_slopes(Rows rows, std::vector<double> x, const std::vector<double>& low,
                     const std::vector<double>& high, std::vector<double>& gradient) const {
    constexpr double step = 1e-5;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double here = x[i], below = std::max(low[i], here - step),
                   above = std::min(high[i], here + step);
      x[i] = above;
      const double more = loss(rows, x);
      x[i] = below;
      gradient[i] = (more - loss(rows, x)) / (above - below);
      x[i] = here;
    }
    return loss(rows, x);
  }

  std::size_t horizon_, season_;
};

}  // namespace

MemberPtr make_smoothing(const MemberSpec& spec) { return std::make_unique<Smoothing>(spec); }

}  // namespace bochner::inline BOCHNER_PRECISION
