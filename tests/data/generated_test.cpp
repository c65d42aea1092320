#include <gtest/gtest.h>

#include <bochner/data/generated.hpp>
#include <cmath>
#include <set>
#include <stdexcept>

namespace bochner {
namespace {

constexpr std::uint64_t wide = std::uint64_t(1) << 62;

TEST(Draws, AreFunctionsOfTheExample) {
  const ExampleSet set{5, 100, 10};
  Draws a = set.held_out(3), b = set.held_out(3), other = set.held_out(4);
  const std::uint64_t first = a.below(wide), second = a.below(wide);
  EXPECT_EQ(b.below(wide), first);
  EXPECT_EQ(b.below(wide), second);
  EXPECT_NE(first, second);
  EXPECT_NE(other.below(wide), first);
}

TEST(Draws, HaveTheirProbabilities) {
  Draws draws = ExampleSet{}.held_out(0);
  int hits = 0;
  for (int i = 0; i < 10000; ++i) hits += draws.chance(0.25);
  EXPECT_NEAR(hits, 2500, 5 * std::sqrt(10000 * 0.25 * 0.75));
}

TEST(ExampleSet, VisitsEachTrainingExampleOnceInEveryEpoch) {
  const ExampleSet set{5, 50, 10};
  std::vector<std::uint64_t> epochs[2];
  for (std::uint64_t number = 0; number < 100; ++number)
    epochs[number / 50].push_back(set.training(number).below(wide));
  EXPECT_NE(epochs[0], epochs[1]);
  const std::set<std::uint64_t> first(epochs[0].begin(), epochs[0].end());
  EXPECT_EQ(first.size(), 50u);
  EXPECT_EQ(first, std::set<std::uint64_t>(epochs[1].begin(), epochs[1].end()));
}

TEST(ExampleSet, KeepsTrainingAndValidationApartAndSeedsToo) {
  std::set<std::uint64_t> all;
  for (const std::uint64_t seed : {1, 2}) {
    const ExampleSet set{seed, 50, 50};
    for (std::uint64_t i = 0; i < 50; ++i) {
      all.insert(set.training(i).below(wide));
      all.insert(set.held_out(i).below(wide));
    }
  }
  EXPECT_EQ(all.size(), 200u);
}

TEST(ExampleSet, CutsItsValidationIntoBatches) {
  const ExampleSet set{1, 10, 7};
  EXPECT_EQ(set.validation_batches(3), 3u);
  EXPECT_EQ(set.validation_count(1, 3), 3u);
  EXPECT_EQ(set.validation_count(2, 3), 1u);
  EXPECT_THROW(set.validation_count(3, 3), std::invalid_argument);
  EXPECT_THROW(set.validation_batches(0), std::invalid_argument);
  EXPECT_EQ((ExampleSet{1, 10, 0}).validation_batches(3), 0u);
}

}  // namespace
}  // namespace bochner
