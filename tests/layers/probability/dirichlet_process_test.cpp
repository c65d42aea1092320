#include <gtest/gtest.h>

#include <algorithm>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/layers/probability/dirichlet_process.hpp>
#include <cmath>
#include <map>
#include <set>

namespace bochner {
namespace dirichlet_process_test {

RandomFunction random_of(std::uint64_t seed) { return {seed, Purpose::test, 1}; }

/// Three planted components in the plane.
std::vector<double> planted(std::uint64_t seed, std::size_t n) {
  const double centres[3][2] = {{0, 0}, {6, 0}, {0, 6}};
  std::vector<double> rows;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < 2; ++j)
      rows.push_back(centres[i % 3][j] + RandomFunction{seed, Purpose::test, 9}.normal(2 * i + j));
  return rows;
}

DirichletProcess process() { return {0.1, {{2, 2}, 0.05, 8, {5, 0, 0, 5}}}; }

TEST(DirichletProcess, RestaurantHasTheExpectedNumberOfTables) {
  for (const double a : {0.5, 1.0, 5.0}) {
    constexpr std::size_t draws = 2000, n = 100;
    double sum = 0, squares = 0, expected = 0;
    for (std::size_t i = 0; i < n; ++i) expected += a / (a + double(i));
    for (std::size_t draw = 0; draw < draws; ++draw) {
      const auto labels = chinese_restaurant_labels(n, a, Draws({draw, Purpose::test, 2}));
      const double tables = double(*std::ranges::max_element(labels) + 1);
      sum += tables, squares += tables * tables;
    }
    const double mean = sum / draws, deviation = std::sqrt(squares / draws - mean * mean);
    EXPECT_NEAR(mean, expected, 3 * deviation / std::sqrt(double(draws))) << a;
    EXPECT_NEAR(expected, a * std::log1p(double(n) / a), 0.7);
  }
}

/// Values of the urn are those of a restaurant whose tables draw from the base: the number of
/// different ones, and the mean.
TEST(DirichletProcess, UrnRepeatsItsValues) {
  const double a = 2;
  constexpr std::size_t draws = 2000, n = 50;
  double different = 0, expected = 0, sum = 0;
  for (std::size_t i = 0; i < n; ++i) expected += a / (a + double(i));
  for (std::size_t draw = 0; draw < draws; ++draw) {
    const std::vector<double> values =
        polya_urn_values(n, a, NormalDistribution{3, 1}, Draws({draw, Purpose::test, 4}));
    different += double(std::set<double>(values.begin(), values.end()).size());
    sum += values.back();
  }
  EXPECT_NEAR(different / draws, expected, 4 * std::sqrt(expected / draws));
  EXPECT_NEAR(sum / draws, 3, 4 / std::sqrt(double(draws)));
}

/// E sum of the first K shares = 1 - (a / (1 + a))^K.
TEST(DirichletProcess, SticksHaveTheExpectedLengths) {
  const double a = 2;
  constexpr std::size_t draws = 2000, K = 4;
  double sum = 0, squares = 0;
  for (std::size_t draw = 0; draw < draws; ++draw) {
    double all = 0;
    for (const double share : stick_breaking_shares(K, a, Draws({draw, Purpose::test, 3})))
      all += share;
    sum += all, squares += all * all;
  }
  const double mean = sum / draws, deviation = std::sqrt(squares / draws - mean * mean);
  EXPECT_NEAR(mean, 1 - std::pow(a / (1 + a), double(K)), 3 * deviation / std::sqrt(double(draws)));
}

TEST(DirichletProcess, GibbsFindsPlantedComponents) {
  for (const bool urn : {true, false}) {
    std::size_t right = 0;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const std::vector<double> rows = planted(seed, 150);
      const auto sampler = urn ? collapsed_gibbs_sampler(process(), rows, random_of(seed))
                               : blocked_gibbs_sampler(process(), rows, 15, random_of(seed));
      right += count_components(*sampler, urn ? 200 : 800, 0.1) == 3;
    }
    EXPECT_GE(right, 9u) << (urn ? "urn" : "sticks");
  }
}

/// Of two rows the posterior that they are of one component has a closed form.
TEST(DirichletProcess, GibbsSamplesThePosterior) {
  const DirichletProcess process{0.7, {{0}, 0.5, 3, {1}}};
  const std::vector<double> rows{0.4, -0.8};
  NormalWishart both = process.base, first = process.base, second = process.base;
  both.add(&rows[0]), both.add(&rows[1]), first.add(&rows[0]), second.add(&rows[1]);
  const double base = process.base.log_integral();
  const double together = std::exp(both.log_integral() - base);
  const double apart =
      process.concentration * std::exp(first.log_integral() + second.log_integral() - 2 * base);
  const double expected = together / (together + apart);
  for (const bool urn : {true, false}) {
    const auto sampler = urn ? collapsed_gibbs_sampler(process, rows, random_of(3))
                             : blocked_gibbs_sampler(process, rows, 25, random_of(3));
    constexpr int sweeps = 20000;
    double same = 0, pairs = 0,
           before = 0;  // pairs of sweeps say how much they resemble each other
    for (int i = 0; i < sweeps; ++i) {
      sampler->sweep();
      const double now = sampler->labels()[0] == sampler->labels()[1] ? 1 : 0;
      same += now, pairs += now * before, before = now;
    }
    const double mean = same / sweeps, variance = mean * (1 - mean);
    const double resemblance = (pairs / sweeps - mean * mean) / variance;
    const double worth = sweeps * (1 - resemblance) / (1 + resemblance);
    EXPECT_NEAR(mean, expected, 5 * std::sqrt(variance / worth)) << (urn ? "urn" : "sticks");
  }
}

/// Labels in order of appearance, for all partitions of n rows.
std::vector<std::vector<std::size_t>> partitions(std::size_t n) {
  std::vector<std::vector<std::size_t>> all{{}};
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<std::vector<std::size_t>> longer;
    for (const auto& one : all) {
      const std::size_t tables = one.empty() ? 0 : std::ranges::max(one) + 1;
      for (std::size_t label = 0; label <= tables; ++label) {
        longer.push_back(one);
        longer.back().push_back(label);
      }
    }
    all = std::move(longer);
  }
  return all;
}

/// Renumbers labels in order of appearance.
std::vector<std::size_t> in_order(const std::vector<std::size_t>& labels) {
  std::map<std::size_t, std::size_t> number;
  std::vector<std::size_t> renamed;
  for (const std::size_t label : labels)
    renamed.push_back(number.emplace(label, number.size()).first->second);
  return renamed;
}

/// Of five rows each of the 52 partitions is visited as often as its exact posterior says.
TEST(DirichletProcess, CollapsedGibbsVisitsAllPartitions) {
  const DirichletProcess process{0.8, {{0}, 0.3, 3, {1}}};
  const std::vector<double> rows{-2, -1.5, 0.2, 1.4, 1.9};
  std::map<std::vector<std::size_t>, double> exact, visits;
  double all = 0;
  for (const auto& labels : partitions(5))
    all += exact[labels] = std::exp(log_joint(process, labels, rows));
  ASSERT_EQ(exact.size(), 52u);
  const auto sampler = collapsed_gibbs_sampler(process, rows, random_of(5));
  constexpr int sweeps = 60000;
  for (int i = 0; i < sweeps; ++i) {
    sampler->sweep();
    visits[in_order(sampler->labels())] += 1.0 / sweeps;
  }
  double distance = 0, likeliest = 0;  // total variation
  for (const auto& [labels, p] : exact) {
    distance += std::fabs(visits[labels] - p / all) / 2;
    likeliest = std::max(likeliest, p / all);
  }
  EXPECT_LT(distance, 0.02);
  EXPECT_LT(likeliest, 0.5);
  // A single row has one partition, whose probability is that of the base.
  double evidence = 0;
  for (const auto& labels : partitions(1)) evidence += std::exp(log_joint(process, labels, {0.7}));
  EXPECT_NEAR(evidence, std::exp(process.base.predictive().log_density({0.7})), 1e-12);
}

TEST(DirichletProcess, BitsDoNotDependOnThreads) {
  std::vector<std::vector<std::size_t>> results;
  for (const std::size_t threads : {1, 3}) {
    set_thread_count(threads);
    const auto sampler = blocked_gibbs_sampler(process(), planted(1, 200), 10, random_of(1));
    for (int i = 0; i < 5; ++i) sampler->sweep();
    results.push_back(sampler->labels());
  }
  set_thread_count(0);
  EXPECT_EQ(results[0], results[1]);
}

}  // namespace dirichlet_process_test
}  // namespace bochner
