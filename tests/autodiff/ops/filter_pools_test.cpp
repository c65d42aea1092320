#include <bochner/autodiff/ops/filter_pools.hpp>
#include <bochner/autodiff/ops/ridge_left_out.hpp>
#include <bochner/base/numeric/cholesky.hpp>
#include <cmath>

#include "autodiff/op_check.hpp"
#include "autodiff/op_table.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace filter_pools_test {

using Inputs = std::vector<Var>;
using op_check::random_tensor;

constexpr std::size_t taps = 3, dilation = 2;

/// Two series of 37 and 5 rows.
std::shared_ptr<const SeriesChannels> some_series(std::size_t channels) {
  auto series = std::make_shared<SeriesChannels>(SeriesChannels{channels, {}});
  for (const std::size_t rows : {37, 5}) {
    const Tensor values = random_tensor({channels, rows}, 30 + rows);
    series->values.emplace_back(values.begin(), values.end());
  }
  return series;
}

Tensor thresholds_for(std::size_t groups) {
  Tensor thresholds = random_tensor({groups * 8}, 20);
  for (real& each : thresholds) each *= real(0.3);
  return thresholds;
}

Tensor temperatures_for(std::size_t groups) {
  Tensor temperatures = filled({groups}, real(0.8));
  if (groups > 1) temperatures(1) = real(0.4);
  return temperatures;
}

Var pools_of(const Var& filters, const Var& weights) {
  const std::size_t groups = filters.dim(0);
  return soft_filter_pools(filters, weights, some_series(weights.dim(1)), dilation,
                           thresholds_for(groups), temperatures_for(groups));
}

Tensor targets_for(std::size_t rows) { return random_tensor({rows, 2}, 40); }

std::vector<OpRow> rows() {
  const auto pools = [](Tape&, const Inputs& x) { return pools_of(x[0], x[1]); };
  const auto left_out = [](Tape&, const Inputs& x) {
    return ridge_left_out(x[0], targets_for(x[0].dim(0)));
  };
  return {{"soft_filter_pools", "", pools, {{{2, 8, taps}, {2, 3}}, {{1, 8, taps}, {1, 1}}}},
          {"ridge_left_out", "", left_out, {{{7, 3}}, {{4, 9}}, {{2, 1}}}}};
}

INSTANTIATE_TEST_SUITE_P(FilterPools, OpTest, ::testing::ValuesIn(rows()), test_name);

TEST(FilterPools, AreMeansOfSoftCounts) {
  const Tensor filters = random_tensor({2, 8, taps}, 50), weights = random_tensor({2, 3}, 51),
               pools = pools_of(Var(filters), Var(weights)).value(), thresholds = thresholds_for(2),
               temperatures = temperatures_for(2);
  const auto series = some_series(3);
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t g = 0; g < 2; ++g) {
      const std::size_t n = series->rows(i);
      const double temperature = double(temperatures(g));
      double sums[5][8] = {};
      for (std::size_t t = 0; t < n; ++t) {
        double y[8], up = 0, down = 0;
        for (std::size_t f = 0; f < 8; ++f) {
          y[f] = 0;
          for (std::size_t j = 0; j < taps; ++j) {
            const std::size_t at = t + j * dilation - taps / 2 * dilation;  // wraps before row 0
            for (std::size_t c = 0; c < 3 && at < n; ++c)
              y[f] += double(filters(g, f, j)) * double(weights(g, c)) *
                      double(series->values[i][c * n + at]);
          }
          up += std::exp(y[f] / temperature);
          down += std::exp(-y[f] / temperature);
        }
        for (std::size_t f = 0; f < 8; ++f) {
          sums[0][f] += y[f] * std::exp(y[f] / temperature) / up / double(n);
          sums[1][f] += std::exp(-y[f] / temperature) / down / double(n);
          sums[2][f] +=
              1 / (1 + std::exp((double(thresholds(g * 8 + f)) - y[f]) / temperature)) / double(n);
          sums[3][f] = t == 0 ? y[f] : std::max(sums[3][f], y[f]);
          sums[4][f] += y[f] / double(n);
        }
      }
      for (std::size_t p = 0; p < 5; ++p)
        for (std::size_t f = 0; f < 8; ++f)
          EXPECT_NEAR(double(pools(i, p, g * 8 + f)), sums[p][f], 10 * op_check::tolerance)
              << i << " " << g << " " << p << " " << f;
    }
}

/// Fits again without each row; the intercept is a feature of weight 10.
TEST(RidgeLeftOut, PredictsRowsByAllOthers) {
  constexpr std::size_t n = 6, d = 3, D = d + 1;
  const Tensor x = random_tensor({n, d}, 60), y = targets_for(n),
               predictions = ridge_left_out(Var(x), y).value();
  const auto feature = [&](std::size_t i, std::size_t j) { return j < d ? double(x(i, j)) : 10.0; };
  for (std::size_t out = 0; out < n; ++out) {
    std::vector<double> gram(D * D), weights(D * 2);
    for (std::size_t j = 0; j < D; ++j) {
      gram[j * D + j] += 1;
      for (std::size_t i = 0; i < n; ++i) {
        if (i == out) continue;
        for (std::size_t k = 0; k < D; ++k) gram[j * D + k] += feature(i, j) * feature(i, k);
        for (std::size_t k = 0; k < 2; ++k) weights[j * 2 + k] += feature(i, j) * double(y(i, k));
      }
    }
    cholesky(D, gram.data());
    solve_lower(D, gram.data(), 2, weights.data());
    solve_lower_transposed(D, gram.data(), 2, weights.data());
    for (std::size_t k = 0; k < 2; ++k) {
      double answer = 0;
      for (std::size_t j = 0; j < D; ++j) answer += feature(out, j) * weights[j * 2 + k];
      EXPECT_NEAR(double(predictions(out, k)), answer, op_check::is_double ? 1e-8 : 1e-5);
    }
  }
}

TEST(FilterPools, RefusesShapesThatDoNotFit) {
  EXPECT_THROW(pools_of(Var(zeros({1, 7, taps})), Var(zeros({1, 1}))), std::invalid_argument);
  EXPECT_THROW(pools_of(Var(zeros({1, 8, taps})), Var(zeros({2, 1}))), std::invalid_argument);
  EXPECT_THROW(ridge_left_out(Var(zeros({1, 3})), zeros({1, 2})), std::invalid_argument);
}

}  // namespace filter_pools_test
}  // namespace bochner::inline BOCHNER_PRECISION
