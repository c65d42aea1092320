#include <gtest/gtest.h>

#include <bochner/data/text/state_tracking.hpp>

namespace bochner {
namespace state_tracking_test {

std::vector<Questions> sequences(const TokenTaskSpec& spec) {
  std::vector<Questions> all;
  for (std::uint64_t i = 0; i < 20; ++i)
    all.push_back(token_tasks()
                      .make(spec.kind, spec)
                      ->make(draws_of(ExampleSet{3, 1000, 1000}, Split::validation, i)));
  return all;
}

TEST(StateTracking, ParityCountsTheOnesOfEveryPrefix) {
  for (const Questions& questions : sequences({"parity", 30, 2})) {
    ASSERT_EQ(questions.answers.size(), 31u);
    std::int32_t ones = 0;
    for (std::size_t t = 0; t < 30; ++t) {
      ones += questions.tokens[t];
      EXPECT_TRUE(questions.is_answer[t + 1]);
      EXPECT_EQ(questions.answers[t + 1], ones % 2);
    }
  }
}

/// Moves the letters of "abc" token by token, by the permutations in lexicographic order.
TEST(StateTracking, PermutationsMultiplyEveryPrefix) {
  const std::string after[] = {"abc", "acb", "bac", "bca", "cab", "cba"};
  for (const Questions& questions : sequences({"permutation_products", 30, 6})) {
    std::string letters = "abc";
    for (std::size_t t = 0; t < 30; ++t) {
      for (char& letter : letters) letter = after[questions.tokens[t]][std::size_t(letter - 'a')];
      EXPECT_EQ(after[questions.answers[t + 1]], letters);
    }
  }
}

TEST(StateTracking, PermutationsOfFiveAre120Tokens) {
  TokenTaskSpec spec{"permutation_products", 10, 120};
  spec.own.of<PermutationSpec>().elements = 5;
  EXPECT_EQ(token_tasks().make(spec.kind, spec)->smallest_vocabulary(), 120u);
}

}  // namespace state_tracking_test
}  // namespace bochner
