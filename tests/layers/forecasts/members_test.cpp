#include <gtest/gtest.h>

#include <bochner/layers/forecasts/forecast_member.hpp>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>

namespace bochner::inline BOCHNER_PRECISION {
namespace members_test {

using Numbers = std::vector<double>;

Numbers rows_of(std::size_t n, const std::function<double(double)>& f) {
  Numbers rows;
  for (std::size_t i = 0; i < n; ++i) rows.push_back(f(double(i)));
  return rows;
}

/// Fits a member to all but the last H rows and returns its largest error on these.
double error_of(const ForecastMember& member, const Numbers& rows, std::size_t H) {
  const Rows seen = Rows(rows).first(rows.size() - H);
  Numbers state(member.size());
  EXPECT_TRUE(member.fit(seen, state));
  const Numbers forecast = member.forecast(seen, state);
  double largest = 0;
  for (std::size_t h = 0; h < H; ++h)
    largest = std::max(largest, std::abs(forecast[h] - rows[seen.size() + h]));
  return largest;
}

double season_of_four(double t) { return std::fmod(t * t, 4) * 3 + std::fmod(t, 4); }

TEST(SeasonalForecast, RepeatsTheLastSeason) {
  const MemberSpec spec{6, 2, {4}};
  const Numbers rows = rows_of(30, season_of_four);
  EXPECT_EQ(error_of(*make_seasonal(spec, 4, false), rows, 6), 0);
  const Numbers seen = {1, 2, 7};
  EXPECT_EQ(make_seasonal(spec, 1, false)->forecast(seen, Numbers{0}), Numbers(6, 7.0));
}

TEST(SeasonalForecast, AddsTheDrift) {
  const MemberSpec spec{6, 2, {4}};
  const Numbers rows = rows_of(30, [](double t) { return season_of_four(t) + 0.5 * t; });
  EXPECT_LT(error_of(*make_seasonal(spec, 4, true), rows, 6), 1e-12);
  Numbers state(1);
  EXPECT_FALSE(make_seasonal(spec, 4, true)->fit(Rows(rows).first(8), state)) << "two seasons";
}

TEST(RidgeForecast, ContinuesALinearRecurrence) {
  Numbers rows = {1, 2};
  while (rows.size() < 80) rows.push_back(1.6 * rows.back() - 0.9 * rows[rows.size() - 2] + 3);
  const MemberSpec spec{5, 4, {}};
  for (const bool relative : {false, true})
    EXPECT_LT(error_of(*make_ridge(spec, relative), rows, 5), 1e-3) << relative;
}

TEST(RidgeForecast, ShrinksToTheMeanWhereRowsAreNoise) {
  std::mt19937 random(3);
  std::normal_distribution<> normal(50, 1);
  const Numbers rows = rows_of(150, [&](double) { return normal(random); });
  const MemberSpec spec{3, 40, {}};
  const MemberPtr ridge = make_ridge(spec, false);
  Numbers state(ridge->size());
  ASSERT_TRUE(ridge->fit(rows, state));
  for (const double x : ridge->forecast(rows, state)) EXPECT_NEAR(x, 50, 0.4);
}

/// Ridge regression with one lag and one row to come has a closed form for each penalty.
TEST(RidgeForecast, HasTheSlopeOfLeastLeaveOneOutError) {
  std::mt19937 random(5);
  std::normal_distribution<> normal;
  Numbers rows = {0};
  while (rows.size() < 60) rows.push_back(0.5 * rows.back() + normal(random));
  const std::size_t n = rows.size() - 1;
  double x_mean = 0, y_mean = 0;
  for (std::size_t i = 0; i < n; ++i) x_mean += rows[i] / n, y_mean += rows[i + 1] / n;
  double xx = 0, xy = 0;
  for (std::size_t i = 0; i < n; ++i) {
    xx += (rows[i] - x_mean) * (rows[i] - x_mean);
    xy += (rows[i] - x_mean) * (rows[i + 1] - y_mean);
  }
  double best_slope = 0, least = INFINITY;
  for (double exponent = -6; exponent <= 2; ++exponent) {
    const double penalty = std::pow(10.0, exponent) * xx, slope = xy / (xx + penalty);
    double error = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double x = rows[i] - x_mean, leverage = 1.0 / n + x * x / (xx + penalty);
      error += std::abs(rows[i + 1] - y_mean - slope * x) / (1 - leverage);
    }
    if (error < least) least = error, best_slope = slope;
  }
  const MemberPtr ridge = make_ridge({1, 1, {}}, false);
  Numbers state(ridge->size());
  ASSERT_TRUE(ridge->fit(rows, state));
  EXPECT_NEAR(state[0], best_slope, 1e-12);
  EXPECT_NEAR(state[1], y_mean - best_slope * x_mean, 1e-12);
}

TEST(SmoothingForecast, ContinuesTrendAndSeason) {
  const Numbers rows = rows_of(60, [](double t) { return season_of_four(t) + 2 * t; });
  EXPECT_LT(error_of(*make_smoothing({8, 2, {4}}), rows, 8), 0.02);
}

TEST(SmoothingForecast, FollowsALevelThatMoves) {
  const Numbers rows = rows_of(100, [](double t) { return t < 50 ? 10.0 : 30.0; });
  EXPECT_LT(error_of(*make_smoothing({4, 2, {}}), rows, 4), 0.5);
}

/// A straight line is its own level with all of its slope: half is in the level.
TEST(ThetaForecast, AddsHalfTheSlopeToTheLevel) {
  const Numbers rows = rows_of(60, [](double t) { return 3 * t + (int(t) % 2 ? 1 : -1); });
  const MemberPtr theta = make_theta({4, 2, {}});
  Numbers state(theta->size());
  ASSERT_TRUE(theta->fit(rows, state));
  EXPECT_NEAR(state[1], 3, 0.01);
  const Numbers forecast = theta->forecast(rows, state);
  EXPECT_NEAR(forecast[3] - forecast[0], 4.5, 0.02);
  const Numbers constant(20, 7.0);
  ASSERT_TRUE(theta->fit(constant, state));
  EXPECT_EQ(theta->forecast(constant, state), Numbers(4, 7.0));
}

TEST(AutoregressiveForecast, FindsOrderAndCoefficients) {
  std::mt19937 random(4);
  std::normal_distribution<> normal;
  Numbers rows = {0, 0};
  while (rows.size() < 2000)
    rows.push_back(1.5 * rows.back() - 0.8 * rows[rows.size() - 2] + normal(random));
  const MemberPtr member = make_autoregression({3, 2, {}});
  Numbers state(member->size());
  ASSERT_TRUE(member->fit(rows, state));
  EXPECT_NEAR(state[1], 1.5, 0.05);
  EXPECT_NEAR(state[2], -0.8, 0.05);
  EXPECT_NEAR(state[9], 0, 0.05);
  const double m = state[0], next = m + state[1] * (rows.back() - m);
  state[2] = state[3] = 0;
  std::fill(state.begin() + 2, state.end(), 0.0);
  EXPECT_NEAR(member->forecast(rows, state)[1], m + state[1] * (next - m), 1e-12);
}

TEST(DeseasonalisedForecast, AddsTheSeasonOfEachRow) {
  const MemberSpec spec{9, 2, {4}}, rest{9, 2, {}};
  const Numbers rows = rows_of(61, [](double t) { return season_of_four(t) + 7; });
  const MemberPtr member = make_deseasonalised(spec, make_seasonal(rest, 1, false));
  EXPECT_LT(error_of(*member, rows, 9), 1e-9);
  Numbers state(1);
  EXPECT_FALSE(member->fit(Rows(rows).first(8), state)) << "two seasons and a row";
}

/// The mean season of noise shrinks to nothing.
TEST(DeseasonalisedForecast, ShrinksSeasonsOfNoise) {
  std::mt19937 random(6);
  std::normal_distribution<> normal;
  const MemberSpec spec{12, 2, {12}}, rest{12, 2, {}};
  const Numbers rows = rows_of(240, [&](double) { return normal(random); });
  const MemberPtr member = make_deseasonalised(spec, make_theta(rest));
  Numbers state(2);
  ASSERT_TRUE(member->fit(rows, state));
  const Numbers forecast = member->forecast(rows, state);
  for (const double x : forecast) EXPECT_NEAR(x, forecast[0], 0.3);
}

/// Changes follow the tent map, whose next change has no correlation with the last one.
TEST(KernelForecast, LearnsAMapThatIsNotLinear) {
  Numbers rows = {0};
  for (double change = 0.3; rows.size() < 1100; change = 1 - 1.8 * std::abs(change))
    rows.push_back(rows.back() + change);
  const MemberSpec spec{1, 2, {}};
  EXPECT_LT(error_of(*make_kernel_ridge(spec), rows, 1), 0.1);
  EXPECT_GT(error_of(*make_ridge(spec, true), rows, 1), 0.3);
  const MemberPtr kernel = make_kernel_ridge(spec);
  Numbers state(kernel->size());
  EXPECT_FALSE(kernel->fit(Rows(rows).first(1000), state)) << "few windows";
}

TEST(ProcessForecast, ContinuesAWaveOfAPeriodThatItFinds) {
  const Numbers rows = rows_of(
      140, [](double t) { return 20 + 3 * std::sin(2 * std::numbers::pi * t / 11.3) + 0.02 * t; });
  EXPECT_LT(error_of(*make_process({12, 2, {}}), rows, 12), 0.3);
}

TEST(ProcessForecast, TakesFewRowsAtMost) {
  Numbers rows(1501), state(12);
  EXPECT_FALSE(make_process({12, 2, {}})->fit(rows, state));
  EXPECT_FALSE(make_process({12, 2, {}})->fit(Rows(rows).first(11), state));
}

TEST(LogarithmicForecast, ContinuesGrowth) {
  const Numbers rows = rows_of(60, [](double t) { return 5 * std::exp(0.1 * t); });
  EXPECT_LT(error_of(*make_logarithmic(make_ridge({4, 3, {}}, true)), rows, 4), 0.5);
  Numbers state(1);
  EXPECT_FALSE(make_logarithmic(make_seasonal({4, 3, {}}, 1, false))->fit(Numbers{3, 0}, state));
}

}  // namespace members_test
}  // namespace bochner::inline BOCHNER_PRECISION
