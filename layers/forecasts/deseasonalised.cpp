#include <algorithm>
#include <bochner/layers/forecasts/forecast_member.hpp>
#include <cmath>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t most_adjusted = 4000;
constexpr double forgetting = 0.8;  // weight of a season relative to the next one

/// Returns the averages over a season around each row but the first and last m / 2.
std::vector<double> centred_averages(Rows rows, std::size_t m) {
  const std::size_t half = m / 2, n = rows.size();
  std::vector<double> sums(n + 1), averages;
  std::partial_sum(rows.begin(), rows.end(), sums.begin() + 1);
  for (std::size_t i = half; i + half < n; ++i) {
    double sum = sums[i + half + 1] - sums[i - half];
    if (m % 2 == 0) sum -= (rows[i - half] + rows[i + half]) / 2;
    averages.push_back(sum / double(m));
  }
  return averages;
}

/// Weighted moments of the rows at one place of the season.
struct PlaceMoments {
  double weight = 0, squared_weights = 0, sum = 0, squares = 0;

  void add(double x) {
    weight = forgetting * weight + 1;
    squared_weights = forgetting * forgetting * squared_weights + 1;
    sum = forgetting * sum + x;
    squares = forgetting * squares + x * x;
  }
  double mean() const { return sum / weight; }
  /// Returns the variance of the mean.
  double variance() const {
    const double count = weight * weight / squared_weights;
    return (squares / weight - mean() * mean()) / std::max(count - 1, 1.0);
  }
};

/// Returns the mean season of at least 2 m + 1 rows, of row 0 first, without their moving average.
/// Its factors are shrunk to 0 (James, Stein, 1961), as Miller and Williams, "Shrinkage estimators
/// of time series seasonal factors and their effect on forecasting accuracy", 2003, propose. (m)
std::vector<double> mean_season(Rows rows, std::size_t m) {
  const std::vector<double> averages = centred_averages(rows, m);
  std::vector<PlaceMoments> places(m);
  for (std::size_t i = 0; i < averages.size(); ++i)
    places[(i + m / 2) % m].add(rows[i + m / 2] - averages[i]);
  std::vector<double> season;
  double noise = 0, power = 0;
  for (const PlaceMoments& place : places) {
    season.push_back(place.mean());
    noise += place.variance() / double(m);
  }
  const double mean = std::accumulate(season.begin(), season.end(), 0.0) / double(m);
  for (double& x : season) x -= mean, power += x * x;
  const double most = double(m > 3 ? m - 3 : 1) * noise, kept = power > most ? 1 - most / power : 0;
  for (double& x : season) x *= kept;
  return season;
}

class Deseasonalised : public ForecastMember {
 public:
  Deseasonalised(const MemberSpec& spec, MemberPtr of)
      : horizon_(spec.horizon), seasons_(spec.seasons), of_(std::move(of)) {}

  std::size_t size() const override { return of_->size(); }
  std::size_t least_rows() const override {
    return std::max(of_->least_rows(), 2 * seasons_.front() + 1);
  }

  bool fit(Rows rows, std::span<double> state) const override {
    return rows.size() >= least_rows() && of_->fit(adjusted(rows).rest, state);
  }

  std::vector<double> forecast(Rows rows, std::span<const double> state) const override {
    const Adjusted parts = adjusted(rows);
    std::vector<double> values = of_->forecast(parts.rest, state);
    for (std::size_t h = 0; h < horizon_; ++h) values[h] += parts.coming[h];
    return values;
  }

 private:
  struct Adjusted {
    std::vector<double> rest, coming;  ///< rows without their seasons, seasons to come (H)
  };
  /// Removes the seasons one after the other, those of two periods or more.
  Adjusted adjusted(Rows rows) const {
    const Rows seen = rows.last(std::min(rows.size(), most_adjusted));
    Adjusted parts{{seen.begin(), seen.end()}, std::vector<double>(horizon_)};
    const std::size_t n = seen.size();
    for (const std::size_t m : seasons_) {
      if (n < 2 * m + 1) continue;
      const std::vector<double> season = mean_season(parts.rest, m);
      for (std::size_t i = 0; i < n; ++i) parts.rest[i] -= season[i % m];
      for (std::size_t h = 0; h < horizon_; ++h) parts.coming[h] += season[(n + h) % m];
    }
    return parts;
  }

  std::size_t horizon_;
  std::vector<std::size_t> seasons_;
  MemberPtr of_;
};

}  // namespace

MemberPtr make_deseasonalised(const MemberSpec& spec, MemberPtr of) {
  return std::make_unique<Deseasonalised>(spec, std::move(of));
}

}  // namespace bochner::inline BOCHNER_PRECISION
