#include <gtest/gtest.h>

#include <algorithm>
#include <bochner/data/labelled/pathfinder.hpp>

namespace bochner {
namespace pathfinder_test {

using Path = std::vector<PathDash>;

/// Returns the least distance of points of a path from another path.
double apart(const Path& one, const Path& other) {
  double least = 1e9;
  for (const PathDash& a : one)
    for (double t = 0; t <= 1; t += 0.25)
      for (const PathDash& b : other)
        least = std::min(least, distance(b, {a.from.x + t * (a.to.x - a.from.x),
                                             a.from.y + t * (a.to.y - a.from.y)}));
  return least;
}

bool ends_at(const Path& path, const PathPoint& p) {
  return distance({path.front().from, path.front().from}, p) == 0 ||
         distance({path.back().to, path.back().to}, p) == 0;
}

TEST(Pathfinder, DiscsAreAtEndsOfOneCurveOrOfTwoThatStayApart) {
  for (const std::size_t side : {32, 128}) {
    Draws draws({7});
    for (int i = 0; i < 40; ++i) {
      const bool connected = i % 2 == 0;
      const PathScene scene = path_scene(side, connected, draws);
      ASSERT_GE(scene.curves.size(), 2u);
      EXPECT_EQ(scene.curves[0].size(), 14u);
      EXPECT_GT(apart(scene.curves[0], scene.curves[1]), side == 32 ? 0.75 : 2);
      const auto [first, second] = scene.discs;
      const bool one_curve =
          (ends_at(scene.curves[0], first) && ends_at(scene.curves[0], second)) ||
          (ends_at(scene.curves[1], first) && ends_at(scene.curves[1], second));
      EXPECT_EQ(one_curve, connected);
    }
  }
}

TEST(Pathfinder, DrawsLinesAndDiscsOfItsScenes) {
  const ExampleSet set{7, 40, 0};
  const Pathfinder images({32}, set);
  const LabelledBatch batch = images.batch(images.in_order(Split::train, 0, 40));
  for (std::size_t i = 0; i < 40; ++i) {
    Draws draws = draws_of(set, Split::train, i);
    const auto label = std::int32_t(draws.below(2));
    ASSERT_EQ(batch.labels.values[i], label);
    const auto* pixels = batch.tokens.values.data() + i * 32 * 32;
    const PathScene scene = path_scene(32, label == 1, draws);
    for (const PathPoint& disc : scene.discs)
      EXPECT_EQ(pixels[std::size_t(disc.y) * 32 + std::size_t(disc.x)], 255);
    for (const Path& curve : scene.curves)
      for (const PathDash& dash : curve) {
        const double x = (dash.from.x + dash.to.x) / 2, y = (dash.from.y + dash.to.y) / 2;
        EXPECT_GT(pixels[std::size_t(y) * 32 + std::size_t(x)], 0);
      }
    EXPECT_GT(std::count(pixels, pixels + 32 * 32, 0), 500);
  }
  EXPECT_THROW(Pathfinder({31}, set), std::invalid_argument);
}

}  // namespace pathfinder_test
}  // namespace bochner
