#include <gtest/gtest.h>

#include <bochner/base/ceil_div.hpp>
#include <bochner/data/text/list_ops.hpp>
#include <set>

namespace bochner {
namespace length_buckets_test {

constexpr std::uint64_t seed = 3, train = 103;
constexpr std::size_t B = 8;

ListOps expressions(std::size_t window, std::uint64_t examples = train) {
  ListOps data({4, 200, 10, 10}, ExampleSet{seed, examples, 10});
  data.bucket({B, window});
  return data;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> numbers(const Examples& examples) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
  for (const auto& number : examples.numbers) all.emplace_back(number.epoch, number.index);
  return all;
}

std::vector<std::size_t> lengths_of(const ListOps& data, std::uint64_t first, std::size_t count) {
  return data.batch(data.training(first, count)).lengths;
}

TEST(LengthBuckets, AreOffAtFirst) {
  const ListOps plain({4, 200, 10, 10}, ExampleSet{seed, train, 10});
  for (std::uint64_t i = 0; i < 2 * train; ++i)
    EXPECT_EQ(plain.training(i, 1).index(0), permuted_index(seed, i / train, i % train, train));
  EXPECT_EQ(numbers(expressions(0).training(0, 300)), numbers(plain.training(0, 300)));
}

/// Includes batches that span two epochs.
TEST(LengthBuckets, VisitEachExampleOnceInEveryEpoch) {
  for (const std::size_t window : {1, 3, 100}) {
    const auto all = numbers(expressions(window).training(0, 5 * train));
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].first, i / train);
    EXPECT_EQ(std::set(all.begin(), all.end()).size(), all.size());
  }
  EXPECT_EQ(numbers(expressions(4, 5).training(0, 25)), numbers(expressions(0, 5).training(0, 25)));
}

/// Batches of a window do not overlap in length, and are shuffled.
TEST(LengthBuckets, PutLikeLengthsTogether) {
  const ListOps data = expressions(100);
  for (const std::uint64_t epoch : {0, 1, 2}) {
    const std::uint64_t first = round_up(epoch * train, B);
    std::vector<std::pair<std::size_t, std::size_t>> spans;
    for (std::uint64_t at = first; at + B <= (epoch + 1) * train; at += B) {
      const auto lengths = lengths_of(data, at, B);
      spans.emplace_back(std::ranges::min(lengths), std::ranges::max(lengths));
    }
    EXPECT_FALSE(std::ranges::is_sorted(spans));
    std::ranges::sort(spans);
    for (std::size_t i = 1; i < spans.size(); ++i) EXPECT_LE(spans[i - 1].second, spans[i].first);
  }
}

/// Holds from any position, in any pieces, after any other requests.
TEST(LengthBuckets, AreAFunctionOfThePlace) {
  const ListOps data = expressions(3);
  const auto all = numbers(data.training(0, 4 * train));
  for (std::uint64_t at = 4 * train; at-- > 0;)
    EXPECT_EQ(numbers(expressions(3).training(at, 1)).front(), all[at]);
  EXPECT_EQ(numbers(data.training(57, 100)), (std::vector(all.begin() + 57, all.begin() + 157)));
}

/// Holds even if windows of all epochs begin at the same position: batches differ from those of the
/// previous epoch.
TEST(LengthBuckets, OfWholeEpochsAreThoseOfTheirOwn) {
  const ListOps data = expressions(100, 96);
  for (const std::uint64_t epoch : {0, 1, 2})
    EXPECT_EQ(numbers(data.training(epoch * 96, 96)),
              numbers(expressions(100, 96).training(epoch * 96, 96)));
}

}  // namespace length_buckets_test
}  // namespace bochner
