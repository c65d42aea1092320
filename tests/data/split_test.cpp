#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/data/split.hpp>
#include <cmath>

namespace bochner {
namespace split_test {

using testing::ElementsAre;

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
  EXPECT_THAT(held_out_from({5, 3, 8, 2}, 0.3), ElementsAre(5, 3, 0, 0));
  EXPECT_THAT(held_out_from({5, 3}, 0.1), ElementsAre(5, 0));
  EXPECT_THAT(held_out_from({5, 3}, 0), ElementsAre(5, 3));
  EXPECT_THAT(held_out_from({20}, 0.25), ElementsAre(15));
}

}  // namespace split_test
}  // namespace bochner
