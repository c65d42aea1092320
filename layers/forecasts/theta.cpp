#include <algorithm>
#include <bochner/layers/forecasts/forecast_member.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t most_theta_rows = 1000, fewest_theta_rows = 5;

/// Level after exponential smoothing, and the squares of the errors of one step.
struct SmoothedLevel {
  double level, squares = 0;

  SmoothedLevel(Rows rows, double rate) : level(rows[0]) {
    for (const double row : rows.subspan(1)) {
      const double error = row - level;
      squares += error * error;
      level += rate * error;
    }
  }
};

/// Returns the slope of the line of least squares, by row.
double slope_of(Rows rows) {
  const double n = double(rows.size()), middle = (n - 1) / 2;
  double sum = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) sum += (double(i) - middle) * rows[i];
  return sum / (n * (n * n - 1) / 12);
}

/// State: rate of the level, slope.
class Theta : public ForecastMember {
 public:
  explicit Theta(const MemberSpec& spec) : horizon_(spec.horizon) {}

  std::size_t size() const override { return 2; }
  std::size_t least_rows() const override { return fewest_theta_rows; }

  bool fit(Rows rows, std::span<double> state) const override {
    constexpr int rates = 50;
    if (rows.size() < fewest_theta_rows) return false;
    const Rows seen = recent(rows);
    double least = INFINITY;
    for (int i = 1; i < rates; ++i) {
      const double rate = double(i) / rates, squares = SmoothedLevel(seen, rate).squares;
      if (squares < least) least = squares, state[0] = rate;
    }
    state[1] = slope_of(seen);
    return std::isfinite(least);
  }

  std::vector<double> forecast(Rows rows, std::span<const double> state) const override {
    const Rows seen = recent(rows);
    const auto [rate, slope] = std::pair(state[0], state[1]);
    const double level = SmoothedLevel(seen, rate).level,
                 lag = (1 - std::pow(1 - rate, double(seen.size()))) / rate;
    std::vector<double> values(horizon_);
    for (std::size_t h = 0; h < horizon_; ++h) values[h] = level + slope / 2 * (double(h) + lag);
    return values;
  }

 private:
  static Rows recent(Rows rows) { return rows.last(std::min(rows.size(), most_theta_rows)); }

  std::size_t horizon_;
};

}  // namespace

MemberPtr make_theta(const MemberSpec& spec) { return std::make_unique<Theta>(spec); }

}  // namespace bochner::inline BOCHNER_PRECISION
