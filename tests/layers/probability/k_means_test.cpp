#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/layers/probability/k_means.hpp>
#include <cmath>
#include <numeric>
#include <set>

namespace bochner {
namespace k_means_test {

const RandomFunction start{1, Purpose::test, 100};

std::vector<double> noise(std::size_t n, std::size_t d, std::uint64_t stream = 1) {
  const RandomFunction random{3, Purpose::test, stream};
  std::vector<double> points(n * d);
  for (std::size_t i = 0; i < points.size(); ++i) points[i] = random.normal(i);
  return points;
}

/// Point i belongs to the cluster i % K, around (10 k, -5 k, ..).
std::vector<double> planted(std::size_t n, std::size_t K) {
  std::vector<double> points = noise(n, 3);
  for (std::size_t i = 0; i < n; ++i) {
    points[3 * i] += 10 * double(i % K);
    points[3 * i + 1] -= 5 * double(i % K);
  }
  return points;
}

TEST(KMeans, FindsPlantedClusters) {
  const Clusters found = k_means(planted(900, 6), 3, {6, 100, 5}, start);
  std::set<std::size_t> labels;
  for (std::size_t i = 0; i < 900; ++i) {
    EXPECT_EQ(found.labels[i], found.labels[i % 6]);
    labels.insert(found.labels[i]);
  }
  EXPECT_EQ(labels.size(), 6u);
  for (std::size_t k = 0; k < 6; ++k)
    EXPECT_NEAR(found.centres[3 * found.labels[k]], 10 * double(k), 5 / std::sqrt(150.0));
}

TEST(KMeans, FindsSeparateClustersWithoutRandomNumbers) {
  const std::size_t n = 60, d = 3;
  std::vector<double> points(n * d);
  const RandomFunction random{7, Purpose::test, 1};
  for (std::size_t i = 0; i < n * d; ++i)
    points[i] = 0.1 * random.normal(i) + 5 * double(i / d % 3 == i % d);
  const Clusters clusters = k_means(points, d, 3);
  EXPECT_NEAR(clusters.spread(), 0.01, 0.004);
  for (std::size_t r = 0; r < 3; ++r) {
    double sum = 0;
    for (std::size_t e = 0; e < d; ++e) sum += clusters.centres[r * d + e];
    EXPECT_NEAR(sum, 5, 0.2);
  }
  for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(clusters.labels[i], clusters.labels[i % 3]);
}

TEST(KMeans, NeverRises) {
  for (const std::size_t K : {2, 7, 40}) {
    const Clusters found = k_means(noise(500, 4), 4, {K}, start);
    EXPECT_TRUE(std::ranges::is_sorted(found.objective, std::greater())) << K;
    EXPECT_GE(found.objective.size(), 3u);
  }
}

/// At the end every centre is the mean of its points, and every point is with its nearest centre.
TEST(KMeans, EndsAtAFixedPoint) {
  const std::size_t n = 300, d = 2, K = 8;
  const std::vector<double> points = noise(n, d);
  const Clusters found = k_means(points, d, {K, 1000}, start);
  EXPECT_EQ(nearest_centres(points, found.centres, d), found.labels);
  for (std::size_t k = 0; k < K; ++k) {
    double x = 0, y = 0, count = 0;
    for (std::size_t i = 0; i < n; ++i)
      if (found.labels[i] == k) x += points[2 * i], y += points[2 * i + 1], count += 1;
    EXPECT_NEAR(found.centres[2 * k], x / count, 1e-12);
    EXPECT_NEAR(found.centres[2 * k + 1], y / count, 1e-12);
  }
  const double sum = std::accumulate(found.distances.begin(), found.distances.end(), 0.0);
  EXPECT_EQ(found.objective.back(), sum);
}

/// Equal points leave clusters empty, which begin anew wherever a point is far from its centre.
TEST(KMeans, HasEmptyClusters) {
  std::vector<double> points(20, 1.0);
  const Clusters same = k_means(points, 1, {4}, start);
  EXPECT_EQ(same.objective.back(), 0);
  points[19] = 50;
  points[18] = -50;
  const Clusters three = k_means(points, 1, {3}, start);
  EXPECT_EQ(three.objective.back(), 0);
  EXPECT_EQ(std::set<std::size_t>(three.labels.begin(), three.labels.end()).size(), 3u);
  const Clusters four = k_means(points, 1, {4}, start);
  EXPECT_EQ(four.objective.back(), 0);
  const Clusters each = k_means(noise(5, 2), 2, {5}, start);
  EXPECT_EQ(each.objective.back(), 0);
  EXPECT_THROW(k_means(noise(5, 2), 2, {6}, start), std::invalid_argument);
  EXPECT_THROW(k_means({}, 2, {1}, start), std::invalid_argument);
}

TEST(KMeans, TakesTheBestStart) {
  const std::vector<double> points = noise(400, 2);
  const Clusters best = k_means(points, 2, {9, 100, 6}, start);
  double least = 1e300;
  for (std::size_t i = 0; i < 6; ++i) {
    RandomFunction own = start;
    own.stream += i;
    least = std::min(least, k_means(points, 2, {9}, own).objective.back());
  }
  EXPECT_EQ(best.objective.back(), least);
}

TEST(KMeans, HasEqualBitsForAnyNumberOfThreads) {
  const std::vector<double> points = noise(2000, 5);
  set_thread_count(1);
  const Clusters one = k_means(points, 5, {30, 20}, start);
  set_thread_count(3);
  const Clusters three = k_means(points, 5, {30, 20}, start);
  set_thread_count(0);
  EXPECT_EQ(one.centres, three.centres);
  EXPECT_EQ(one.labels, three.labels);
  EXPECT_EQ(one.objective, three.objective);
}

/// Equation 12 of Li et al., written out; so many clusters that no percentile cuts the two middle
/// ones.
TEST(Concentrations, AreThoseOfTheirDistances) {
  Clusters clusters{1, {0, 10, 20, 30}, {0, 0, 1, 1, 1, 2, 2, 3}, {}, {}};
  clusters.distances = {1, 1, 4, 4, 4, 9, 9, 0};
  const double ln12 = std::log(12.0), ln13 = std::log(13.0);
  const double raw[] = {1 / ln12, 2 / ln13, 3 / ln12, 3 / ln12};  // the last is alone
  const double low = raw[0] + 0.3 * (raw[1] - raw[0]);            // the tenth percentile of four
  const double sum = low + raw[1] + raw[2] + raw[3];
  const std::vector<double> phi = concentrations(clusters, 0.1);
  EXPECT_NEAR(phi[0], 0.4 * low / sum, 1e-12);
  EXPECT_NEAR(phi[1], 0.4 * raw[1] / sum, 1e-12);
  EXPECT_NEAR(phi[2], 0.4 * raw[2] / sum, 1e-12);
  EXPECT_NEAR(phi[3], 0.4 * raw[3] / sum, 1e-12);
}

TEST(Concentrations, AreNeverZero) {
  Clusters equal{1, {0, 1}, {0, 0, 1, 1}, {0, 0, 0, 0}, {}};
  EXPECT_THAT(concentrations(equal, 0.2), testing::ElementsAre(0.2, 0.2));
  equal.distances = {0, 0, 1, 1};
  for (const double phi : concentrations(equal, 0.2)) EXPECT_GT(phi, 0);
}

}  // namespace k_means_test
}  // namespace bochner
