#include <gtest/gtest.h>

#include <bochner/data/generated.hpp>
#include <cmath>
#include <set>
#include <stdexcept>

namespace bochner {
namespace generated_test {

constexpr std::uint64_t wide = std::uint64_t(1) << 62;

TEST(Draws, AreFunctionsOfTheExample) {
  const ExampleSet set{5, 100, 10};
  Draws a = draws_of(set, Split::validation, 3), b = draws_of(set, Split::validation, 3),
        other = draws_of(set, Split::validation, 4);
  const std::uint64_t first = a.below(wide), second = a.below(wide);
  EXPECT_EQ(b.below(wide), first);
  EXPECT_EQ(b.below(wide), second);
  EXPECT_NE(first, second);
  EXPECT_NE(other.below(wide), first);
}

TEST(Draws, HaveTheirProbabilities) {
  Draws draws = draws_of(ExampleSet{}, Split::validation, 0);
  int hits = 0;
  for (int i = 0; i < 10000; ++i) hits += draws.chance(0.25);
  EXPECT_NEAR(hits, 2500, 5 * std::sqrt(10000 * 0.25 * 0.75));
}

TEST(ExampleSet, KeepsTrainingAndValidationApartAndSeedsToo) {
  std::set<std::uint64_t> all;
  for (const std::uint64_t seed : {1, 2}) {
    const ExampleSet set{seed, 50, 50};
    for (std::uint64_t i = 0; i < 50; ++i) {
      all.insert(draws_of(set, Split::train, i).below(wide));
      all.insert(draws_of(set, Split::validation, i).below(wide));
    }
  }
  EXPECT_EQ(all.size(), 200u);
}

}  // namespace generated_test
}  // namespace bochner
