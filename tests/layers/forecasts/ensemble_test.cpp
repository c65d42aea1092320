#include <gtest/gtest.h>

#include <bochner/base/numeric/parallel.hpp>
#include <bochner/layers/forecasts/ensemble.hpp>
#include <cmath>
#include <numeric>
#include <random>

namespace bochner::inline BOCHNER_PRECISION {
namespace ensemble_test {

using Numbers = std::vector<double>;

Numbers noisy_season(std::size_t n, unsigned seed, double noise) {
  std::mt19937 random(seed);
  std::normal_distribution<> normal(0, noise);
  Numbers rows;
  for (std::size_t i = 0; i < n; ++i)
    rows.push_back(10 * std::sin(0.5236 * double(i)) + normal(random));
  return rows;
}

EnsembleSpec monthly(std::size_t channels = 1) {
  EnsembleSpec spec{.channels = channels, .horizon = 12, .lookback = 24, .seasons = {12}};
  spec.members = {"seasonal", "ridge", "smoothing"};
  return spec;
}

/// Forecasts a constant.
class Constant : public ForecastMember {
 public:
  Constant(double value, std::size_t horizon) : values_(horizon, value) {}
  std::size_t size() const override { return 0; }
  std::size_t least_rows() const override { return 1; }
  bool fit(Rows, std::span<double>) const override { return true; }
  Numbers forecast(Rows, std::span<const double>) const override { return values_; }

 private:
  Numbers values_;
};

std::vector<NamedMember> constants(const Numbers& values) {
  std::vector<NamedMember> members;
  for (const double value : values)
    members.push_back({"last " + std::to_string(value), std::make_unique<Constant>(value, 3)});
  return members;
}

TEST(Contest, WeighsErrorsOfOppositeSignAgainstEachOther) {
  const Contest contest = compete(constants({1, -1, 9}), Numbers(60), 3);
  EXPECT_NEAR(contest.weights[0], 0.5, 1e-3);
  EXPECT_NEAR(contest.weights[1], 0.5, 1e-3);
  EXPECT_NEAR(contest.weights[2], 0, 1e-3);
  EXPECT_LT(contest.error, 0.01);
  EXPECT_EQ(contest.naive, 0u);
}

/// The shrunk weights of errors 1 and 2, always of one sign, minimise
/// (w + 2 (1 - w))^2 + (w - 16 / 17)^2 + (1 / 17 - 1 + w)^2 over w.
TEST(Contest, ShrinksWeightsToThoseOfInverseSquares) {
  const Contest contest = compete(constants({1, 2}), Numbers(60), 3);
  EXPECT_NEAR(contest.weights[0], 1, 1e-12) << "the minimum is above 1";
  EXPECT_EQ(contest.weights[1], 0);
}

TEST(Contest, CombinesTheBest) {
  const Contest contest = compete(ensemble_members(monthly()), noisy_season(240, 1, 1), 12);
  EXPECT_NEAR(std::accumulate(contest.weights.begin(), contest.weights.end(), 0.0), 1, 1e-12);
  EXPECT_GE(std::ranges::min(contest.weights), 0);
  EXPECT_EQ(contest.weights[0], 0) << "the last value is far off";
  EXPECT_LT(contest.error, 0.9 * contest.errors[1]) << "the season has its noise twice";
  EXPECT_EQ(contest.errors[4], -1) << "rows are not positive: they have no logarithms";
}

TEST(Contest, AnExactMemberWinsAlone) {
  Numbers rows;
  for (std::size_t i = 0; i < 90; ++i) rows.push_back(double(i % 12) - 4);
  const Contest contest = compete(ensemble_members(monthly()), rows, 12);
  EXPECT_EQ(contest.weights[1], 1) << "the last season";
  EXPECT_EQ(contest.error, 0);
  EXPECT_EQ(contest.naive, 1u);
}

TEST(Contest, ResidualsAreThoseOfTheOrigins) {
  const Numbers rows = noisy_season(240, 3, 1);
  const Contest contest = compete(ensemble_members(monthly()), rows, 12);
  ASSERT_EQ(contest.residuals.size(), 12 * contest.origins.size());
  EXPECT_EQ(contest.origins.back(), 228u);
  double sum = 0;
  for (const double x : contest.residuals) sum += std::abs(x);
  EXPECT_NEAR(sum / double(contest.residuals.size()), contest.error, 1e-12);
  EXPECT_GT(contest.naive_spread[5], contest.spread[5]);
  EXPECT_GT(contest.covered[0], 0.7);
  EXPECT_GE(contest.covered[1], contest.covered[0]);
}

/// The share of fresh errors within the bands is near their level, in the mean over series.
TEST(Contest, BandsCoverWhatTheySay) {
  constexpr std::size_t n = 200, H = 12;
  double inner = 0, outer = 0, count = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const Numbers all = noisy_season(n + H, seed, 1);
    Ensemble ensemble(monthly());
    ensemble.fit({Numbers(all.begin(), all.begin() + n)});
    const EnsembleForecast forecast = ensemble.forecast(0, Rows(all).first(n));
    for (std::size_t h = 0; h < H; ++h, ++count) {
      const double error = std::abs(all[n + h] - forecast.mean[h]);
      inner += error <= forecast.half_widths[0][h];
      outer += error <= forecast.half_widths[1][h];
    }
  }
  EXPECT_NEAR(inner / count, 0.8, 0.06);
  EXPECT_NEAR(outer / count, 0.95, 0.04);
}

/// Logarithms are fitted to the rows before the last one.
TEST(Contest, AMemberThatCannotSeeAllRowsHasNoWeight) {
  Numbers rows;
  for (std::size_t i = 0; i < 160; ++i)
    rows.push_back(std::exp(0.03 * double(i) + std::sin(0.5236 * double(i))));
  const auto weight_of_logarithms = [&] {
    const auto members = ensemble_members(monthly());
    const Contest contest = compete(members, rows, 12);
    double weight = 0;
    for (std::size_t m = 0; m < members.size(); ++m) {
      if (members[m].name.ends_with("logarithms")) weight += contest.weights[m];
      EXPECT_EQ(contest.weights[m] > 0, !contest.states[m].empty()) << members[m].name;
    }
    return weight;
  };
  EXPECT_GT(weight_of_logarithms(), 0.9);
  rows.push_back(0);
  EXPECT_EQ(weight_of_logarithms(), 0);
}

/// Rows of a season and twice the first of two covariates.
TEST(CovariateEffects, AreTheLeastSquaresOfSeasonalDifferences) {
  std::mt19937 random(2);
  std::normal_distribution<> normal;
  constexpr std::size_t n = 120;
  Numbers rows, covariates;
  for (std::size_t i = 0; i < 2 * n; ++i) covariates.push_back(normal(random));
  for (std::size_t i = 0; i < n; ++i) rows.push_back(double(i % 12) + 2 * covariates[i]);
  const Numbers effects = covariate_effects(rows, covariates, 12);
  ASSERT_EQ(effects.size(), 2u);
  EXPECT_NEAR(effects[0], 2, 1e-4);
  EXPECT_NEAR(effects[1], 0, 1e-4);
  EXPECT_EQ(covariate_effects(rows, Numbers(n, 3.0), 12), Numbers{0}) << "a constant";
  EXPECT_EQ(covariate_effects(Rows(rows).first(14), Rows(covariates).first(14), 12), Numbers{0});
}

TEST(Ensemble, AddsTheEffectsOfCovariatesToCome) {
  std::mt19937 random(8);
  std::normal_distribution<> normal;
  constexpr std::size_t n = 150, H = 12;
  EnsembleSpec spec = monthly();
  spec.covariates = 1;
  Ensemble with(spec), without(monthly());
  Numbers covariates, rows, plain = noisy_season(n, 3, 0.1);
  for (std::size_t i = 0; i < n + H; ++i) covariates.push_back(normal(random));
  for (std::size_t i = 0; i < n; ++i) rows.push_back(plain[i] + 5 * covariates[i]);
  with.fit({rows}, {Numbers(covariates.begin(), covariates.begin() + n)});
  without.fit({plain});
  const EnsembleForecast seen = with.forecast(0, rows, covariates);
  const Numbers expected = without.forecast(0, plain).mean;
  for (std::size_t h = 0; h < H; ++h)
    EXPECT_NEAR(seen.mean[h], expected[h] + 5 * covariates[n + h], 0.2);
  EXPECT_GT(with.contest(0).errors[1], 4) << "the last season does not know covariates";
}

TEST(Ensemble, NeedsTheRowsOfItsMembers) {
  Ensemble ensemble(monthly());
  Numbers rows;
  for (std::size_t i = 0; i < 90; ++i) rows.push_back(double(i % 12) - 4);
  ensemble.fit({rows});
  EXPECT_EQ(ensemble.least_rows(0), 12u);
  EXPECT_EQ(ensemble.forecast(0, rows).naive, ensemble.forecast(0, rows).mean);
}

TEST(Contest, NeedsRows) {
  EXPECT_THROW(compete(ensemble_members(monthly()), Numbers(15), 12), std::invalid_argument);
  EXPECT_NO_THROW(compete(ensemble_members(monthly()), Numbers(16), 12));
}

std::vector<Numbers> fitted(std::size_t threads) {
  set_thread_count(threads);
  Ensemble ensemble(monthly(6));
  std::vector<Numbers> channels;
  for (unsigned seed = 1; seed <= 6; ++seed) channels.push_back(noisy_season(150, seed, seed));
  ensemble.fit(channels);
  std::vector<Numbers> buffers;
  for (const NamedTensor& named : buffers_of(ensemble))
    buffers.emplace_back(named.tensor->begin(), named.tensor->end());
  set_thread_count(0);
  return buffers;
}

TEST(Ensemble, HasTheSameBitsForAnyNumberOfThreads) { EXPECT_EQ(fitted(1), fitted(3)); }

TEST(Ensemble, RepeatsTheLastValueUntilItIsFitted) {
  const Ensemble ensemble(monthly());
  EXPECT_EQ(ensemble.forecast(0, Numbers{1, 2, 3}).mean, Numbers(12, 3.0));
}

TEST(Ensemble, LeavesProcessesOutOfManyChannels) {
  EnsembleSpec spec = monthly(17);
  spec.members = {"process"};
  EXPECT_EQ(ensemble_members(spec).size(), 1u);
  spec.channels = 16;
  EXPECT_EQ(ensemble_members(spec).size(), 3u);
  spec.members = {"kernel"};
  EXPECT_EQ(ensemble_members(spec).size(), 2u);
}

}  // namespace ensemble_test
}  // namespace bochner::inline BOCHNER_PRECISION
