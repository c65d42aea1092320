#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/data/dataset.hpp>
#include <cmath>
#include <set>

#include "data/temporary_folder.hpp"

namespace bochner {
namespace dataset_test {

/// Examples that are their numbers.
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
  EXPECT_EQ(held_out(2, 0.1), 1u);
  EXPECT_EQ(held_out(2, 1e-20), 1u);
  EXPECT_EQ(held_out(2, 0.9), 1u);
  EXPECT_EQ(held_out(1, 0.9), 0u);
  EXPECT_EQ(held_out(0, 0.9), 0u);
  EXPECT_EQ(held_out(1000, 0), 0u);
  for (const double fraction : {1.0, -0.1, 2.0, std::nan("")})
    EXPECT_THROW(held_out(1000, fraction), std::invalid_argument);
}

/// Published losses belong to these splits.
TEST(HeldOut, StaysWhatItWas) {
  EXPECT_EQ(held_out(1115394, 0.1), 111540u);  // tinyshakespeare.txt
  for (std::uint64_t n = 2; n < 5000; ++n)
    EXPECT_EQ(n - held_out(n, 0.1), std::uint64_t(double(n) * (1 - 0.1))) << n;
}

TEST(HeldOut, AreTheLastSequencesOrTheLastOfOne) {
  EXPECT_THAT(held_out_from({5, 3, 8, 2}, 0.3), testing::ElementsAre(5, 3, 0, 0));
  EXPECT_THAT(held_out_from({5, 3}, 0.1), testing::ElementsAre(5, 0));
  EXPECT_THAT(held_out_from({5, 3}, 0), testing::ElementsAre(5, 3));
  EXPECT_THAT(held_out_from({20}, 0.25), testing::ElementsAre(15));
}

}  // namespace dataset_test
}  // namespace bochner
