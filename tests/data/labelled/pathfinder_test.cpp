#include <gtest/gtest.h>

#include <algorithm>
#include <bochner/data/labelled/pathfinder.hpp>

namespace bochner {
namespace pathfinder_test {

/// Two discs, which touch a curve each, are the only bright areas; labels are even.
TEST(Pathfinder, MarksTwoEndsOfCurves) {
  for (const std::size_t side : {32, 128}) {
    const Pathfinder images({side}, {7, 40, 0});
    const LabelledBatch batch = images.batch(images.in_order(Split::train, 0, 40));
    int connected = 0;
    for (std::size_t i = 0; i < 40; ++i) {
      connected += batch.labels.values[i];
      const auto* pixels = batch.tokens.values.data() + i * side * side;
      const auto bright = std::count(pixels, pixels + side * side, 255),
                 dark = std::count(pixels, pixels + side * side, 0);
      const double disc = side == 32 ? 7 : 28;
      EXPECT_GT(double(bright), disc);
      EXPECT_GT(double(dark), 0.4 * double(side * side));
      EXPECT_LT(double(dark), 0.9 * double(side * side));
    }
    EXPECT_NEAR(connected, 20, 10);
  }
}

TEST(Pathfinder, NeedsRoom) { EXPECT_THROW(Pathfinder({31}, {7, 40, 0}), std::invalid_argument); }

}  // namespace pathfinder_test
}  // namespace bochner
