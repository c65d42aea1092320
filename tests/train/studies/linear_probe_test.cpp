#include <gtest/gtest.h>

#include <bochner/base/numeric/philox.hpp>
#include <bochner/train/studies/eval_scores.hpp>
#include <cmath>

namespace bochner {
namespace linear_probe_test {

/// Normal points around places of their classes, `apart` from each other.
Embeddings normal_points(std::size_t n, std::size_t width, std::size_t classes, double apart,
                         std::uint64_t stream) {
  const RandomFunction random{2, Purpose::test, stream};
  Embeddings points{width, classes, std::vector<double>(n * width), {}};
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t label = random.integer(i, classes);
    points.labels.push_back(std::int32_t(label));
    for (std::size_t j = 0; j < width; ++j)
      points.values[i * width + j] = random.normal(n + i * width + j) + (j == label ? apart : 0);
  }
  return points;
}

double share_right(const std::vector<std::int32_t>& answers, const Embeddings& truth) {
  double right = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) right += answers[i] == truth.labels[i];
  return right / double(answers.size());
}

/// Of one column and two classes the weights are (w, -w), (b, -b) and 2 w, 2 b solve a regression
/// of two unknowns, by Newton's method here.
TEST(LinearProbe, EqualsNewtonsSolution) {
  const Embeddings points = normal_points(200, 1, 2, 1.5, 1);
  const double penalty = 0.01, n = 200;
  double mean = 0, square = 0;
  for (const double x : points.values) mean += x / n;
  for (const double x : points.values) square += (x - mean) * (x - mean) / n;
  double w = 0, b = 0;  // of the difference of the scores of class 1 and class 0
  for (int step = 0; step < 50; ++step) {
    // The penalty of (w / 2, -w / 2) is penalty w^2 / 4.
    double gw = penalty * w / 2, gb = 0, ww = penalty / 2, wb = 0, bb = 0;
    for (std::size_t i = 0; i < 200; ++i) {
      const double x = (points.values[i] - mean) / std::sqrt(square);
      const double p = 1 / (1 + std::exp(-(w * x + b))), error = p - points.labels[i];
      gw += error * x / n, gb += error / n;
      ww += p * (1 - p) * x * x / n, wb += p * (1 - p) * x / n, bb += p * (1 - p) / n;
    }
    const double determinant = ww * bb - wb * wb;
    w -= (bb * gw - wb * gb) / determinant;
    b -= (ww * gb - wb * gw) / determinant;
  }
  const std::vector<double> found = LinearProbe(points, penalty).weights();
  ASSERT_EQ(found.size(), 4u);
  EXPECT_NEAR(found[1] - found[0], w, 1e-5);
  EXPECT_NEAR(found[3] - found[2], b, 1e-5);
  EXPECT_NEAR(found[0] + found[1], 0, 1e-5);  // the penalty shares it out
}

/// Of normal classes with equal covariance no rule is better than a linear one.
TEST(LinearProbe, FindsWhatALinearMapCan) {
  const Embeddings training = normal_points(3000, 6, 4, 4, 1),
                   other = normal_points(3000, 6, 4, 4, 2);
  const LinearProbe probe(training);
  EXPECT_GT(share_right(probe.answers(other), other), 0.985);
  EXPECT_EQ(probe.answers(other), LinearProbe(training).answers(other));
}

/// Units and origins of columns do not matter; one that never changes is no column.
TEST(LinearProbe, HasNoUnit) {
  const Embeddings training = normal_points(300, 3, 3, 1, 1);
  Embeddings scaled = training;
  for (std::size_t i = 0; i < scaled.values.size(); ++i)
    scaled.values[i] = i % 3 == 2 ? 1000 + 1e4 * scaled.values[i] : scaled.values[i];
  EXPECT_EQ(LinearProbe(training).answers(training), LinearProbe(scaled).answers(scaled));
  Embeddings constant = training;
  for (std::size_t i = 2; i < constant.values.size(); i += 3) constant.values[i] = 7;
  const LinearProbe probe(constant);
  for (const double weight : probe.weights()) EXPECT_TRUE(std::isfinite(weight));
}

TEST(ClusterPurity, IsOneOfClassesThatLieApart) {
  const Embeddings training = normal_points(600, 3, 3, 40, 1),
                   other = normal_points(200, 3, 3, 40, 2);
  EXPECT_EQ(cluster_purity(training, other, 1), 1);
  // Labels that have nothing to do with places: about as frequent as the most frequent label.
  Embeddings mixed = normal_points(3000, 3, 3, 0, 3);
  EXPECT_NEAR(cluster_purity(mixed, mixed, 1), 1 / 3.0, 0.06);
}

}  // namespace linear_probe_test
}  // namespace bochner
