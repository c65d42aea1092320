#include <gtest/gtest.h>

#include <algorithm>
#include <bochner/base/numeric/philox.hpp>
#include <bochner/train/run/sampling.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace bochner {
namespace sampling_test {

Tensor logits_of(const std::vector<double>& values) {
  Tensor logits = uninitialized({values.size()});
  std::copy(values.begin(), values.end(), logits.data());
  return logits;
}

/// By its definition: sorts all tokens, cuts them, and walks along their weights.
std::int32_t expected_token(const Tensor& logits, const SamplingOptions& options, double u) {
  std::vector<std::int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater(), [&](auto token) { return logits.data()[token]; });
  if (options.top_k > 0 && options.top_k < order.size()) order.resize(options.top_k);
  std::vector<double> weights;
  for (const std::int32_t token : order) {
    const double below = double(logits.data()[token]) - double(logits.data()[order[0]]);
    weights.push_back(std::exp(below / options.temperature));
  }
  double total = std::accumulate(weights.begin(), weights.end(), 0.0), sum = 0;
  std::size_t count = 0;
  while (count < weights.size() && sum < options.top_p * total) sum += weights[count++];
  double rest = u * sum;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    if (rest < weights[i]) return order[i];
    rest -= weights[i];
  }
  return order[count - 1];
}

TEST(Sampling, IsTheQuantileOfSortedTokens) {
  const RandomFunction random{1, Purpose::test, 1};
  std::uint64_t drawn = 0;
  for (const std::size_t V : {1, 2, 7, 300}) {
    for (const double temperature : {0.3, 1.0, 20.0}) {
      for (const std::size_t top_k : {0, 1, 5, 1000}) {
        for (const double top_p : {0.2, 0.9, 1.0}) {
          std::vector<double> values(V);
          for (double& value : values) value = std::round(8 * random.uniform(drawn++)) / 2;
          const Tensor logits = logits_of(values);
          const SamplingOptions options{temperature, top_k, top_p};
          for (int i = 0; i < 20; ++i) {
            const double u = random.uniform(drawn++);
            ASSERT_EQ(sample_token(logits, options, u), expected_token(logits, options, u))
                << V << ", " << temperature << ", " << top_k << ", " << top_p << ", " << u;
          }
        }
      }
    }
  }
}

TEST(Sampling, TakesTheFirstOfTheMostProbableTokensAtNoTemperature) {
  EXPECT_EQ(sample_token(logits_of({1, 3, -2, 3, 3}), {.temperature = 0}, 0.99), 1);
}

TEST(Sampling, EndsWithTheLeastProbableTokenThatIsLeft) {
  const Tensor logits = logits_of({0, 2, 1, 3});
  EXPECT_EQ(sample_token(logits, {}, 1), 0);
  EXPECT_EQ(sample_token(logits, {.top_k = 3}, 1), 2);
  EXPECT_EQ(sample_token(logits, {.top_p = 0.7}, 1), 1);
}

/// As after a prompt that may not go on in most ways.
TEST(Sampling, NeverTakesWhatHasNoProbability) {
  const double never = -std::numeric_limits<double>::infinity();
  const Tensor logits = logits_of({never, 0, never, 1});
  for (const double u : {0.001, 0.5, 0.999}) {
    const std::int32_t token = sample_token(logits, {}, u);
    EXPECT_TRUE(token == 1 || token == 3) << token;
  }
}

TEST(Sampling, RefusesWhatIsNoNumber) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double temperature : {0.0, 1.0})
    for (const double bad : {std::nan(""), infinity})
      EXPECT_THROW(sample_token(logits_of({0, bad, 1}), {.temperature = temperature}, 0.5),
                   std::invalid_argument);
}

}  // namespace sampling_test
}  // namespace bochner
