#include <bochner/base/numeric/low_discrepancy.hpp>
#include <bochner/layers/spectral/base_draws.hpp>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace low_discrepancy_test {

using namespace layer_check;

RandomFunction random_of(std::uint64_t seed) { return {seed, Purpose::test, 1}; }

/// Counts the m = 2^k points of one head in each of the m boxes of sides 2^-a and 2^-b.
std::vector<std::size_t> box_counts(const std::vector<double>& points, std::size_t d, unsigned a,
                                    unsigned b) {
  std::vector<std::size_t> counts(std::size_t(1) << (a + b));
  for (std::size_t i = 0; i < points.size(); i += d) {
    const auto x = std::size_t(points[i] * double(1u << a));
    const auto y = std::size_t(points[i + 1] * double(1u << b));
    ++counts[(x << b) | y];
  }
  return counts;
}

/// The first two dimensions are a (0, 8, 2) net, one point per box of volume 2^-8 of any shape,
/// also after scrambling.
TEST(SobolPoints, AreANetBeforeAndAfterScrambling) {
  const std::size_t m = 256;
  for (std::uint64_t seed : {1, 2, 3}) {
    const auto points = sobol_points(SobolRandomisation::owen, 1, m, 2, random_of(seed));
    for (unsigned a = 0; a <= 8; ++a)
      EXPECT_EQ(box_counts(points, 2, a, 8 - a), std::vector<std::size_t>(m, 1)) << a;
  }
}

TEST(SobolPoints, HaveOnePointInEachCellOfEachDimension) {
  const std::size_t m = 128, d = 40;
  for (auto kind : {SobolRandomisation::shift, SobolRandomisation::owen}) {
    const auto points = sobol_points(kind, 2, m, d, random_of(4));
    for (std::size_t axis = 0; axis < 2 * d; ++axis) {
      std::vector<double> column;
      for (std::size_t i = 0; i < m; ++i)
        column.push_back(points[(axis / d * m + i) * d + axis % d]);
      std::sort(column.begin(), column.end());
      for (std::size_t i = 1; i < m; ++i) ASSERT_LT(column[i] - column[i - 1], 2.0 / double(m));
      ASSERT_GT(column.front(), 0);
      ASSERT_LT(column.back(), 1);
    }
  }
}

TEST(HaltonPoints, HaveOnePointInEachCellOfTheirBase) {
  const std::size_t m = 81, d = 3;
  const auto points = halton_points(1, m, d, random_of(5));
  const std::size_t cells[] = {64, 81, 25};
  for (std::size_t j = 0; j < d; ++j) {
    std::vector<std::size_t> counts(cells[j]);
    for (std::size_t i = 0; i < cells[j]; ++i)
      ++counts[std::size_t(points[i * d + j] * double(cells[j]))];
    EXPECT_EQ(counts, std::vector<std::size_t>(cells[j], 1)) << "dimension " << j;
  }
}

TEST(SobolPoints, RefuseMoreDimensionsThanThereAreDirections) {
  EXPECT_EQ(
      op_check::error_of([] { sobol_points(SobolRandomisation::shift, 1, 2, 4000, random_of(1)); }),
      "[sobol] at most 3667 dimensions and 2^32 points: d 4000, m 2");
}

/// Returns the RMSE of the mean of cos(w . lag) over m draws, w ~ N(0, I_d), by seeds.
double kernel_error(const std::string& kind, std::size_t m, std::size_t d) {
  const std::size_t repetitions = 64;
  const Tensor w = base_draws(kind, repetitions, m, d, 0, random_of(6));
  const double lag[] = {0.7, -0.5, 0.9};
  double square = 0, exponent = 0;
  for (std::size_t j = 0; j < d; ++j) exponent += lag[j] * lag[j] / 2;
  for (std::size_t h = 0; h < repetitions; ++h) {
    double mean = 0;
    for (std::size_t i = 0; i < m; ++i) {
      double phase = 0;
      for (std::size_t j = 0; j < d; ++j) phase += double(w(h, i, j)) * lag[j];
      mean += std::cos(phase) / double(m);
    }
    square += std::pow(mean - std::exp(-exponent), 2);
  }
  return std::sqrt(square / double(repetitions));
}

/// Returns the exponent of the error as a power of m, from 2^4 to 2^12.
double error_slope(const std::string& kind, std::size_t d) {
  return std::log(kernel_error(kind, 4096, d) / kernel_error(kind, 16, d)) / std::log(256.0);
}

TEST(BaseDraws, ErrorFallsWithTheRootOfMForIndependentAndFasterForEvenPoints) {
  for (std::size_t d : {1, 2, 3}) {
    EXPECT_NEAR(error_slope("iid", d), -0.5, 0.06) << d;
    EXPECT_LT(error_slope("sobol_owen", d), -0.8) << d;
    EXPECT_LT(error_slope("sobol", d), -0.7) << d;
    EXPECT_LT(error_slope("halton", d), -0.7) << d;
  }
}

TEST(BaseDraws, AuxiliaryCoordinatesAreNormalAndIndependent) {
  const std::size_t m = 4096, d = 3;
  for (const std::string& kind : base_draw_names()) {
    const Tensor w = base_draws(kind, 2, m, d, 2, random_of(7));
    ASSERT_EQ(w.shape(), (Shape{2, m, d + 2}));
    for (std::size_t j = 0; j < d + 2; ++j) {
      double mean = 0, square = 0, product = 0;
      for (std::size_t i = 0; i < m; ++i) {
        const double x = double(w(1, i, j)), last = double(w(1, i, d + 1));
        mean += x / double(m), square += x * x / double(m), product += x * last / double(m);
      }
      EXPECT_NEAR(mean, 0, 5 / std::sqrt(double(m))) << kind << j;
      EXPECT_NEAR(square, 1, 5 * std::sqrt(2 / double(m))) << kind << j;
      if (j > d) continue;
      EXPECT_NEAR(product, 0, 5 / std::sqrt(double(m))) << kind << j;
    }
  }
}

}  // namespace low_discrepancy_test
}  // namespace bochner::inline BOCHNER_PRECISION
