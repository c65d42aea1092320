#include <bochner/autodiff/compute/spline_bin.hpp>
#include <bochner/autodiff/ops.hpp>
#include <bochner/base/numeric/special_functions.hpp>

#include "autodiff/op_check.hpp"
#include "autodiff/op_table.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace ops_learned_quantiles_test {

using Inputs = std::vector<Var>;

/// Returns ascending knots from -1.5 to 1.5 with the given logits.
Var knots_of(const Var& logits) {
  const std::size_t K = logits.dim(-1);
  Tensor sums = zeros({K, K + 1});
  for (std::size_t i = 0; i < K; ++i) {
    for (std::size_t j = i + 1; j <= K; ++j) sums(i, j) = 1;
  }
  const Var rows = reshape(softmax(logits), {logits.size() / K, K});
  Shape shape = logits.shape();
  shape.back() = K + 1;
  return reshape(matmul(rows, Var(sums)), shape) * 3 - 1.5;
}

Var spline_of(Tape&, const Inputs& x) {
  return monotone_spline(x[0], knots_of(x[1]), knots_of(x[2]), pad(exp(x[3]), -1, 1, 1, 1));
}

/// Returns x, logits of the widths and heights, logarithms of the inner slopes.
std::vector<Shapes> spline_shapes() {
  return {{{3, 4, 2}, {3, 1, 2, 4}, {3, 1, 2, 4}, {3, 1, 2, 3}},
          {{3, 4}, {3, 4, 2}, {3, 4, 2}, {3, 4, 1}},
          {{5}, {3}, {3}, {2}},
          {{0, 2}, {2, 3}, {2, 3}, {2, 2}},
          {{40001}, {1, 3}, {1, 3}, {1, 2}}};
}

Tensor scores_for(const Shape& shape) {
  Tensor score = uninitialized(shape);
  for (std::size_t i = 0; i < score.size(); ++i)
    score.data()[i] = real(-3.1 + 6.3 * double(i * 7919 % 101) / 101);
  return score;
}

std::vector<OpRow> rows() {
  const auto own = [](Tape&, const Inputs& x) {
    return log_gamma_quantile(x[0], scores_for(x[0].shape()));
  };
  const auto broadcast = [](Tape&, const Inputs& x) {
    return log_gamma_quantile(x[0], scores_for({4, 3, 5}));
  };
  return {
      {"log_gamma_quantile", "", own, {{{4, 3, 5}}, {{}}, {{0, 3}}, {{1, 1}}, {{301}}}, {0.3, 6}},
      {"log_gamma_quantile", "Broadcast", broadcast, {{{5}}, {{4, 1, 1}}, {{}}}, {0.3, 6}},
      {"monotone_spline", "", spline_of, spline_shapes()}};
}

INSTANTIATE_TEST_SUITE_P(Quantile, OpTest, ::testing::ValuesIn(rows()), test_name);

TEST(Quantile, OfTheNormalDistributionUndoesIt) {
  for (double u : {1e-300, 1e-17, 1e-6, 0.2, 0.5, 0.9}) {
    const double z = quantile::normal(u);
    EXPECT_NEAR(std::erfc(-z / std::numbers::sqrt2) / 2 / u, 1, 1e-11) << u;
  }
  for (double u : {0.0, 5e-324, 1 - 0x1p-53}) EXPECT_TRUE(std::isfinite(quantile::normal(u))) << u;
}

/// The quantile of Exp(1) = Gamma(1) is -ln(1 - u).
TEST(Quantile, OfTheGammaDistributionHasKnownValues) {
  for (double z : {-8.5, -3.0, -0.2, 0.0, 1.0, 5.0, 8.5}) {
    const double upper = std::erfc(z / std::numbers::sqrt2) / 2;
    const double lower = std::erfc(-z / std::numbers::sqrt2) / 2;
    const double expected = z > 0 ? -std::log(upper) : -std::log1p(-lower);
    EXPECT_NEAR(std::exp(quantile::log_gamma(1, z)) / expected, 1, 1e-12) << z;
    for (double shape : {0.25, 0.5, 3.0, 60.0}) {
      const double value = quantile::log_gamma(shape, z);
      if (value > -25) {
        EXPECT_NEAR(quantile::gamma_score(shape, std::exp(value)), z, 1e-8);
      }
      const double h = 1e-4 * shape;
      const double difference =
          (quantile::log_gamma(shape + h, z) - quantile::log_gamma(shape - h, z)) / (2 * h);
      const double slope = quantile::log_gamma_slope(shape, z, value);
      EXPECT_NEAR(slope / difference, 1, 1e-5) << shape << " " << z;
    }
  }
  EXPECT_TRUE(std::isfinite(quantile::log_gamma(0.01, -8.5)));
}

TEST(MonotoneSpline, IsMonotoneAndItsInverseUndoesIt) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const RandomFunction random{seed, Purpose::test, 5};
    const auto positive = [&](std::uint64_t i) { return std::exp(1.5 * random.normal(i)); };
    const double x0 = random.normal(0), y0 = random.normal(1);
    const SplineBin bin{x0, x0 + positive(2), y0, y0 + positive(3), positive(4), positive(5)};
    EXPECT_NEAR(bin.at(bin.x0).y, bin.y0, 1e-12);
    EXPECT_NEAR(bin.at(bin.x1).y, bin.y1, 1e-12 * (1 + std::abs(bin.y1)));
    EXPECT_NEAR(bin.at(bin.x0).slope / bin.slope0, 1, 1e-12);
    EXPECT_NEAR(bin.at(bin.x1).slope / bin.slope1, 1, 1e-12);
    double last = bin.y0;
    for (std::size_t i = 1; i < 50; ++i) {
      const double x = bin.x0 + bin.width() * double(i) / 50, y = bin.at(x).y;
      EXPECT_GT(y, last);
      last = y;
      EXPECT_NEAR((bin.inverse(y) - x) / bin.width(), 0, 1e-9);
      EXPECT_NEAR(bin.gradient(x).x / bin.at(x).slope, 1, 1e-9);
    }
  }
}

/// Where the quadratic's two roots are far apart, one of its forms cancels.
TEST(MonotoneSpline, IsUndoneBesideASteepKnot) {
  const SplineBin bin{0, 1, 0, 1, 1, 1e10};
  for (const double x : {1e-9, 1e-6, 1e-3, 0.5, 1 - 1e-3, 1 - 1e-6, 1 - 1e-9})
    EXPECT_NEAR(bin.inverse(bin.at(x).y), x, 1e-12) << x;
}

TEST(MonotoneSpline, IsTheIdentityOutsideItsKnots) {
  Tensor knots = zeros({3}), slopes = filled({3}, 1), x = zeros({4});
  for (std::size_t i = 0; i < 3; ++i) knots(i) = real(i);
  x(0) = -1, x(1) = 2, x(2) = 7, x(3) = 0.5;
  op_check::expect_equal_bits(monotone_spline(Var(x), Var(knots), Var(knots), Var(slopes)).value(),
                              x);
}

TEST(Quantile, RefusesShapesThatDoNotFit) {
  EXPECT_EQ(op_check::error_of([] {
              log_gamma_quantile(Var(zeros({3})), zeros({2, 1}));
            }),
            "[log_gamma_quantile] the shape must broadcast to the score: shape (3), score (2, 1)");
  EXPECT_THROW(
      monotone_spline(Var(zeros({3})), Var(zeros({2, 4})), Var(zeros({2, 4})), Var(zeros({2, 4}))),
      std::invalid_argument);
}

}  // namespace ops_learned_quantiles_test
}  // namespace bochner::inline BOCHNER_PRECISION
