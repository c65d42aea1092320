#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/train/distributed/exchange_plan.hpp>

#include "data/messages.hpp"

namespace bochner {
namespace exchange_time_test {

using testing::HasSubstr;

TEST(Network, IsReadFromWords) {
  const Network network = parse_network("10Gb,20us");
  EXPECT_DOUBLE_EQ(network.bytes_per_second, 1.25e9);
  EXPECT_DOUBLE_EQ(network.latency, 20e-6);
  EXPECT_DOUBLE_EQ(parse_network("0.5Mb,1.5ms").seconds(1000), 1.5e-3 + 8000 / 0.5e6);
  for (const char* wrong : {"", "10Gb", "10,20us", "10Gb,20", "-1Gb,20us", "0Gb,1us", "nanGb,1us"})
    EXPECT_THAT(message_of<std::invalid_argument>([&] { parse_network(wrong); }),
                HasSubstr("must be bits per second and a latency"))
        << wrong;
}

const Network network{1000, 0.5};  // bytes and seconds

TEST(ExchangeTime, OfOneIsThatOfItsPasses) {
  EXPECT_DOUBLE_EQ(exchange_seconds({4, 1}, {100, 100}, {2, {1, 2}}, network), 8);
}

/// There and back again.
TEST(ExchangeTime, OfTwoBehindTheirPasses) {
  const ShardPassTime pass{2, {2}};
  EXPECT_DOUBLE_EQ(exchange_seconds({2, 2}, {1000}, pass, network), 2 + 2 * (0.5 + 1));
  EXPECT_DOUBLE_EQ(exchange_seconds({4, 2}, {1000}, pass, network), 4 + 2 * (0.5 + 1));
}

/// The first bucket is there before the pass ends; the second one meets elsewhere, and takes as
/// long.
TEST(ExchangeTime, IsHiddenByThePass) {
  EXPECT_DOUBLE_EQ(exchange_seconds({2, 2}, {1000, 100}, {10, {4, 10}}, network),
                   10 + 2 * (0.5 + 0.1));
}

/// The second bucket goes the other way at the same time; the third one is behind the first.
TEST(ExchangeTime, CountsWhatALinkHasToCarry) {
  const auto seconds = [](std::size_t buckets) {
    return exchange_seconds({2, 2}, std::vector<double>(buckets, 1000),
                            {1, std::vector<double>(buckets, 1)}, network);
  };
  EXPECT_DOUBLE_EQ(seconds(1), 1 + 2 * 1.5);
  EXPECT_DOUBLE_EQ(seconds(2), 1 + 2 * 1.5);
  EXPECT_DOUBLE_EQ(seconds(3), 1 + 2 * 1.5 + 1);
}

/// Three levels there and three back, the root sends to three.
TEST(ExchangeTime, OfEightGrowsWithTheLogarithm) {
  const double eight = exchange_seconds({8, 8}, {1}, {1, {1}}, {1e12, 0.5});
  EXPECT_NEAR(eight, 1 + 6 * 0.5, 1e-6);
}

}  // namespace exchange_time_test
}  // namespace bochner
