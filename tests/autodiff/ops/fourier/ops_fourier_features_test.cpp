#include <bochner/autodiff/ops/fourier/fourier_features.hpp>
#include <cmath>

#include "autodiff/op_check.hpp"
#include "autodiff/op_table.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace ops_fourier_features_test {

using op_check::is_double;
using op_check::random_tensor;

Places random_places(std::size_t count, std::size_t dimensions, double reach) {
  const RandomFunction random{7, Purpose::test, 31};
  Places places{dimensions, {}};
  for (std::size_t i = 0; i < count * dimensions; ++i)
    places.coordinates.push_back(reach * random.normal(i));
  return places;
}

GridAxes uneven_grid(std::size_t dimensions) {
  GridAxes axes{{0, 0.3, 0.7, 1.1, 2}, {-1, 0.5, 0.9}, {0.2, 0.4}};
  axes.resize(dimensions);
  return axes;
}

const std::vector<Shapes> frequency_shapes = {{{5, 1}}, {{4, 2}}, {{3, 3}}, {{1, 1}}, {{0, 2}}};

INSTANTIATE_TEST_SUITE_P(
    Harmonics, OpTest,
    ::testing::Values(OpRow{"fourier_features_at", "",
                            [](Tape&, const std::vector<Var>& w) {
                              return fourier_features_at(random_places(9, w[0].dim(1), 1), w[0]);
                            },
                            frequency_shapes},
                      OpRow{"fourier_features_at",
                            "ManyPlaces",
                            [](Tape&, const std::vector<Var>& w) {
                              return fourier_features_at(random_places(1300, w[0].dim(1), 1), w[0]);
                            },
                            {{{33, 2}}}},
                      OpRow{"grid_fourier_features", "",
                            [](Tape&, const std::vector<Var>& w) {
                              return grid_fourier_features(uneven_grid(w[0].dim(1)), w[0]);
                            },
                            frequency_shapes}),
    test_name);

TEST(Harmonics, OfAGridEqualThoseOfItsNodes) {
  for (std::size_t d : {1, 2, 3}) {
    const Tensor w = random_tensor({7, d}, d);
    const GridAxes axes = uneven_grid(d);
    const auto grid = [&](Tape&, const std::vector<Var>& x) {
      return grid_fourier_features(axes, x[0]);
    };
    const auto nodes = [&](Tape&, const std::vector<Var>& x) {
      return fourier_features_at(nodes_of(axes), x[0]);
    };
    const auto expected = op_check::value_and_gradients(nodes, {w});
    const auto results = op_check::value_and_gradients(grid, {w});
    for (std::size_t i = 0; i < 2; ++i)
      op_check::expect_near(results[i], expected[i], is_double ? 1e-13 : 1e-5);
  }
}

/// Phases of 10^4 radians: float phases would keep only four digits.
TEST(Harmonics, KeepLargePhases) {
  const Places places = random_places(50, 2, 3000);
  const Tensor w = random_tensor({8, 2}, 1), y = fourier_features_at(places, w).value();
  for (std::size_t n = 0; n < 50; ++n) {
    for (std::size_t f = 0; f < 8; ++f) {
      long double phase = 0;
      for (std::size_t j = 0; j < 2; ++j)
        phase += (long double)(w.data()[f * 2 + j]) * places.coordinates[n * 2 + j];
      EXPECT_NEAR(double(y.data()[n * 16 + f]), double(std::sin(phase)), is_double ? 1e-11 : 3e-7);
      EXPECT_NEAR(double(y.data()[n * 16 + 8 + f]), double(std::cos(phase)),
                  is_double ? 1e-11 : 3e-7);
    }
  }
}

TEST(Harmonics, NodesRunAlongTheLastAxisFirst) {
  const Places nodes = nodes_of({{1, 2}, {10, 20, 30}});
  EXPECT_EQ(nodes.count(), 6u);
  EXPECT_EQ(nodes.coordinates, (std::vector<double>{1, 10, 1, 20, 1, 30, 2, 10, 2, 20, 2, 30}));
}

TEST(Harmonics, WantAFrequencyForEachCoordinate) {
  EXPECT_EQ(op_check::error_of([] {
              fourier_features_at(Places{2, {0, 0}}, Tensor(zeros({4, 3})));
            }),
            "[fourier_features_at] w must be (m, d) for places of d = 2 coordinates: w (4, 3)");
  EXPECT_EQ(op_check::error_of([] {
              grid_fourier_features({}, Tensor(zeros({4, 0})));
            }),
            "[grid_fourier_features] a grid needs at least one axis");
}

}  // namespace ops_fourier_features_test
}  // namespace bochner::inline BOCHNER_PRECISION
