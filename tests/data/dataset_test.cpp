#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/data/dataset.hpp>
#include <cmath>
#include <map>
#include <set>

#include "data/temporary_folder.hpp"

namespace bochner {
namespace dataset_test {

/// Examples equal to their numbers.
struct Numbers : Dataset {
  explicit Numbers(const ExampleSet& examples) : Dataset(examples) {}
  std::uint64_t tokens_per_example() const override { return 1; }
  std::uint64_t fingerprint() const override { return examples_.fingerprint("numbers", {}); }
  std::string describe() const override { return "numbers"; }
};

std::vector<std::uint64_t> indices(const Examples& examples) {
  std::vector<std::uint64_t> all;
  for (const auto& number : examples.numbers) all.push_back(number.index);
  return all;
}

TEST(Dataset, VisitsEachTrainingExampleOnceInEveryEpoch) {
  const Numbers data({5, 50, 10});
  const Examples both = data.training(0, 100);
  std::vector<std::uint64_t> epochs[2];
  for (const auto& number : both.numbers) epochs[number.epoch].push_back(number.index);
  EXPECT_NE(epochs[0], epochs[1]);
  for (const auto& epoch : epochs) {
    EXPECT_EQ(epoch.size(), 50u);
    EXPECT_EQ(std::set<std::uint64_t>(epoch.begin(), epoch.end()).size(), 50u);
  }
  EXPECT_EQ(indices(data.training(52, 3)),
            std::vector<std::uint64_t>(epochs[1].begin() + 2, epochs[1].begin() + 5));
  EXPECT_NE(indices(Numbers({6, 50, 10}).training(0, 50)), epochs[0]);
}

TEST(Dataset, CutsItsValidationIntoBatches) {
  const Numbers data({1, 10, 7});
  EXPECT_EQ(data.batches(Split::validation, 3), 3u);
  EXPECT_EQ(indices(data.part(Split::validation, 1, 3)), (std::vector<std::uint64_t>{3, 4, 5}));
  EXPECT_EQ(indices(data.part(Split::validation, 2, 3)), (std::vector<std::uint64_t>{6}));
  EXPECT_THROW(data.part(Split::validation, 3, 3), std::invalid_argument);
  EXPECT_THROW(data.batches(Split::validation, 0), std::invalid_argument);
  EXPECT_EQ(Numbers({1, 10, 0}).batches(Split::validation, 3), 0u);
}

TEST(Dataset, SaysWhichExamplesDoNotExist) {
  const Numbers data({1, 10, 7});
  EXPECT_EQ(message_of<std::invalid_argument>([&] { data.in_order(Split::validation, 6, 2); }),
            "[dataset] examples 6 to 8 of 7 in the validation split do not exist");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { data.part(Split::test, 0, 2); }),
            "[dataset] test batch 0 of 0 does not exist");
}

TEST(Dataset, DescribesItsSplits) {
  EXPECT_EQ(Numbers({1, 10, 7}).words(), "numbers  ·  10 examples to train, 7 to validate");
}

TEST(HeldOut, IsTheFractionRoundedUpAndLeavesBothPartsOne) {
  EXPECT_EQ(held_out(1000, 0.25), 250u);
  EXPECT_EQ(held_out(21, 0.1), 3u);
  EXPECT_EQ(held_out(1000, 0.07), 70u);
  EXPECT_EQ(held_out(100, 0.55), 55u);
  EXPECT_EQ(held_out(10, 0.8), 8u);
  EXPECT_EQ(held_out(1001, 0.07), 71u);
  EXPECT_EQ(held_out(2, 0.1), 1u);
  EXPECT_EQ(held_out(2, 1e-20), 1u);
  EXPECT_EQ(held_out(2, 0.9), 1u);
  EXPECT_EQ(held_out(1, 0.9), 0u);
  EXPECT_EQ(held_out(0, 0.9), 0u);
  EXPECT_EQ(held_out(1000, 0), 0u);
  for (const double fraction : {1.0, -0.1, 2.0, std::nan("")})
    EXPECT_THROW(held_out(1000, fraction), std::invalid_argument);
}

/// Splits of published losses.
TEST(HeldOut, StaysWhatItWas) {
  EXPECT_EQ(held_out(1115394, 0.1), 111540u);  // tinyshakespeare.txt
  for (std::uint64_t n = 2; n < 5000; ++n)
    for (const double fraction : {0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.5})
      EXPECT_EQ(n - held_out(n, fraction),
                std::clamp<std::uint64_t>(std::uint64_t(double(n) * (1 - fraction)), 1, n - 1))
          << n << ", " << fraction;
}

TEST(HeldOut, AreTheLastSequencesOrTheLastOfOne) {
  EXPECT_THAT(held_out_from({5, 3, 8, 2}, 0.3), testing::ElementsAre(5, 3, 0, 0));
  EXPECT_THAT(held_out_from({5, 3}, 0.1), testing::ElementsAre(5, 0));
  EXPECT_THAT(held_out_from({5, 3}, 0), testing::ElementsAre(5, 3));
  EXPECT_THAT(held_out_from({20}, 0.25), testing::ElementsAre(15));
}

std::vector<std::uint64_t> permutation(std::uint64_t seed, std::uint64_t epoch, std::uint64_t n) {
  std::vector<std::uint64_t> order(n);
  for (std::uint64_t i = 0; i < n; ++i) order[i] = permuted_index(seed, epoch, i, n);
  return order;
}

TEST(PermutedIndex, IsABijection) {
  for (std::uint64_t n = 1; n <= 2000; n = n < 300 ? n + 1 : n + 37) {
    std::vector<bool> seen(n, false);
    for (const std::uint64_t value : permutation(n, n % 3, n)) {
      ASSERT_LT(value, n);
      ASSERT_FALSE(seen[value]) << "n " << n << " value " << value;
      seen[value] = true;
    }
  }
}

TEST(PermutedIndex, IsABijectionOfAMillion) {
  const std::uint64_t n = 1000003;
  std::vector<bool> seen(n, false);
  for (const std::uint64_t value : permutation(3, 5, n)) {
    ASSERT_FALSE(seen.at(value));
    seen[value] = true;
  }
}

TEST(PermutedIndex, StaysBelowLargeSizesWithoutRepeating) {
  for (const std::uint64_t n : {(std::uint64_t(1) << 32) - 1, (std::uint64_t(1) << 40) + 1,
                                std::uint64_t(1000000007) * 998244353, std::uint64_t(1) << 63}) {
    std::set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < 2000; ++i) {
      for (const std::uint64_t index : {i, n - 1 - i, n / 2 + i}) {
        const std::uint64_t value = permuted_index(1, 2, index, n);
        ASSERT_LT(value, n);
        ASSERT_TRUE(seen.insert(value).second) << "n " << n << " i " << index;
      }
    }
  }
}

// Computed with a separate Philox 4x32-10 in Python that passes the known-answer test of Random123.
TEST(PermutedIndex, IsFixedForEver) {
  EXPECT_THAT(permutation(1, 0, 10), testing::ElementsAre(3, 2, 1, 4, 8, 7, 6, 0, 5, 9));
  EXPECT_THAT(permutation(1, 1, 10), testing::ElementsAre(4, 5, 0, 6, 1, 9, 2, 7, 8, 3));
  const std::uint64_t n = 1000000000000;
  EXPECT_EQ(permuted_index(12345678901234, 7, 0, n), 101928843197u);
  EXPECT_EQ(permuted_index(12345678901234, 7, 1, n), 186332885069u);
  EXPECT_EQ(permuted_index(12345678901234, 7, 2, n), 927360484143u);
}

TEST(PermutedIndex, DiffersBetweenEpochsAndSeeds) {
  std::set<std::vector<std::uint64_t>> orders;
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (std::uint64_t epoch = 0; epoch < 20; ++epoch) orders.insert(permutation(seed, epoch, 100));
  EXPECT_EQ(orders.size(), 400u);
}

double chi_square(const std::map<std::vector<std::uint64_t>, int>& counts, double cells,
                  double draws) {
  double sum = draws;  // cells that were never drawn
  for (const auto& [order, count] : counts) {
    const double difference = count - draws / cells;
    sum += difference * difference * cells / draws - draws / cells;
  }
  return sum;
}

// Limits at the mean plus six standard deviations of the chi-square distribution.
TEST(PermutedIndex, EveryOrderOfFewElementsIsEquallyLikely) {
  for (const auto& [n, orders] :
       std::map<std::uint64_t, double>{{2, 2}, {3, 6}, {4, 24}, {5, 120}, {6, 720}}) {
    std::map<std::vector<std::uint64_t>, int> counts;
    const int draws = 50000;
    for (int epoch = 0; epoch < draws; ++epoch) ++counts[permutation(9, epoch, n)];
    EXPECT_LT(chi_square(counts, orders, draws), orders - 1 + 6 * std::sqrt(2 * (orders - 1))) << n;
  }
}

TEST(PermutedIndex, NeighboursGoToIndependentPlaces) {
  const std::uint64_t n = 1000, parts = 10;
  std::map<std::vector<std::uint64_t>, int> counts;
  const int epochs = 50;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const auto order = permutation(4, epoch, n);
    for (std::uint64_t i = 0; i + 1 < n; i += 2)
      ++counts[{order[i] * parts / n, order[i + 1] * parts / n}];
  }
  const double cells = double(parts * parts);
  EXPECT_LT(chi_square(counts, cells, epochs * double(n) / 2),
            cells - 1 + 6 * std::sqrt(2 * (cells - 1)));
}

TEST(PermutedIndex, RefusesElementsThatDoNotExist) {
  EXPECT_THROW(permuted_index(1, 0, 0, 0), std::invalid_argument);
  EXPECT_THROW(permuted_index(1, 0, 5, 5), std::invalid_argument);
  EXPECT_THROW(permuted_index(1, 0, 0, (std::uint64_t(1) << 63) + 1), std::invalid_argument);
}

TEST(EpochOffset, IsFixedForEver) {
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t epoch = 0; epoch < 5; ++epoch) offsets.push_back(epoch_offset(1, epoch, 256));
  EXPECT_THAT(offsets, testing::ElementsAre(75, 229, 101, 40, 132));
}

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

TEST(ExampleSet, KeepsSplitsApartAndSeedsToo) {
  std::set<std::uint64_t> all;
  for (const std::uint64_t seed : {1, 2}) {
    const ExampleSet set{seed, 50, 50, 50};
    for (std::uint64_t i = 0; i < 50; ++i)
      for (const Split split : {Split::train, Split::validation, Split::test})
        all.insert(draws_of(set, split, i).below(wide));
  }
  EXPECT_EQ(all.size(), 300u);
}

TEST(ExampleSet, KeepsASplitWhenOthersGrow) {
  const ExampleSet set{1, 50, 50, 50}, other{1, 80, 0, 20};
  for (const Split split : {Split::train, Split::validation, Split::test})
    EXPECT_EQ(draws_of(set, split, 3).below(wide), draws_of(other, split, 3).below(wide));
}

}  // namespace dataset_test
}  // namespace bochner
