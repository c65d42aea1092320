#include <gtest/gtest.h>

#include <bochner/base/numeric/openblas.hpp>
#include <bochner/layers/basic/ridge_head.hpp>
#include <cmath>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace ridge_head_test {

using namespace layer_check;

std::vector<std::int32_t> some_labels(std::size_t n) {
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < n; ++i) labels.push_back(std::int32_t(i * i % 3));
  return labels;
}

/// Features in which the labels show.
Tensor some_features(std::size_t n, std::size_t d) {
  Tensor features = random_tensor({n, d}, 1);
  const std::vector<std::int32_t> labels = some_labels(n);
  for (std::size_t i = 0; i < n; ++i) features(i, std::size_t(labels[i])) += real(1.5);
  return features;
}

const Tensor& tensor_of(const std::vector<NamedTensor>& tensors, const std::string& name) {
  for (const NamedTensor& each : tensors)
    if (each.name == name) return *each.tensor;
  throw std::invalid_argument(name);
}

/// Ridge regression of the label k with a free bias, on rows without one.
double score_without(const Tensor& x, const std::vector<std::int32_t>& labels, std::size_t left,
                     std::int32_t k, double penalty) {
  const std::size_t n = labels.size(), d = x.shape()[1], D = d + 1;
  std::vector<double> gram(D * D), moments(D);
  for (std::size_t i = 0; i < n; ++i) {
    if (i == left) continue;
    std::vector<double> row(D, 1);
    for (std::size_t j = 0; j < d; ++j) row[j] = double(x(i, j));
    for (std::size_t a = 0; a < D; ++a) {
      moments[a] += row[a] * (labels[i] == k ? 1 : -1);
      for (std::size_t b = 0; b < D; ++b) gram[a * D + b] += row[a] * row[b];
    }
  }
  for (std::size_t a = 0; a < d; ++a) gram[a * D + a] += penalty;
  const std::vector<double> w = solve(gram, moments);
  double score = w[d];
  for (std::size_t j = 0; j < d; ++j) score += w[j] * double(x(left, j));
  return score;
}

class RidgeHeads : public testing::TestWithParam<std::size_t> {};  // of features

TEST_P(RidgeHeads, LeaveOutEachExampleInTurn) {
  const std::size_t n = 24, d = GetParam();
  const Tensor features = some_features(n, d);
  const std::vector<std::int32_t> labels = some_labels(n);
  RidgeHead head(d, 3);
  const Tensor logits = head.fit(features, labels);
  const auto buffers = buffers_of(head);
  const Tensor &units = tensor_of(buffers, "units"), &factor = tensor_of(buffers, "factor");
  Tensor x = features;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < d; ++j) x(i, j) = (x(i, j) - units(j, 0)) / units(j, 1);
  double least = INFINITY, penalty = 0;
  for (double exponent = -5; exponent <= 2; exponent += 0.5) {
    const double candidate = double(d) * std::pow(10.0, exponent);
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::int32_t k = 0; k < 3; ++k)
        sum += std::pow((labels[i] == k ? 1 : -1) - score_without(x, labels, i, k, candidate), 2);
    if (sum < least) least = sum, penalty = candidate;
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::int32_t k = 0; k < 3; ++k)
      EXPECT_NEAR(double(logits(i, std::size_t(k)) / factor(0)),
                  score_without(x, labels, i, k, penalty), is_double ? 1e-7 : 1e-3)
          << i;
}

TEST_P(RidgeHeads, FindTheClassesOfTheirExamples) {
  const std::size_t n = 24, d = GetParam();
  const Tensor features = some_features(n, d);
  const std::vector<std::int32_t> labels = some_labels(n);
  RidgeHead head(d, 3);
  head.fit(features, labels);
  const Tensor logits = head.outputs(features);
  std::size_t right = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const real* row = logits.data() + i * 3;
    right += std::max_element(row, row + 3) - row == labels[i];
  }
  EXPECT_GT(right, n * 3 / 4);
}

/// The numbers +1 and -1 of a class are what a head of classes scores.
TEST_P(RidgeHeads, PredictNumbersAsTheyScoreAClass) {
  const std::size_t n = 24, d = GetParam();
  const Tensor features = some_features(n, d);
  std::vector<std::int32_t> labels = some_labels(n);
  std::vector<double> numbers;
  for (std::int32_t& label : labels) {
    label = label == 1;
    numbers.push_back(label == 1 ? 1 : -1);
  }
  RidgeHead classes(d, 2), head(d, 1);
  const Tensor logits = classes.fit(features, labels), scores = classes.outputs(features);
  const auto buffers = buffers_of(classes);
  const double factor = double(tensor_of(buffers, "factor")(0));
  const std::vector<double> left_out = head.fit(features, numbers);
  const Tensor predicted = head.outputs(features);
  for (std::size_t i = 0; i < n; ++i) {
    EXPECT_NEAR(left_out[i], double(logits(i, 1)) / factor, 1e-5);
    EXPECT_NEAR(double(predicted(i, 0)), double(scores(i, 1)) / factor, 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(FewerAndMoreThanExamples, RidgeHeads, testing::Values(5, 60));

}  // namespace ridge_head_test
}  // namespace bochner::inline BOCHNER_PRECISION
