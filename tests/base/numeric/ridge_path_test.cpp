#include <gtest/gtest.h>

#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/base/numeric/philox.hpp>
#include <bochner/base/numeric/ridge_path.hpp>
#include <cmath>

namespace bochner {
namespace ridge_path_test {

constexpr std::size_t n = 20, L = 3, H = 2;

struct Rows {
  std::vector<double> inputs, outputs;
};

Rows noise() {
  Draws draws({1});
  Rows rows;
  for (std::size_t i = 0; i < n * L; ++i) rows.inputs.push_back(draws.normal());
  for (std::size_t i = 0; i < n * H; ++i) rows.outputs.push_back(draws.normal());
  return rows;
}

/// Solves (X^T X + penalty) w = X^T y. (L, H)
std::vector<double> solved(const Rows& rows, double penalty) {
  std::vector<double> gram(L * L), weights(L * H);
  accumulate_gram(rows.inputs.size() / L, L, rows.inputs.data(), gram.data());
  for (std::size_t j = 0; j < L; ++j) gram[j * L + j] += penalty;
  cholesky(L, gram.data());
  multiply(L, H, rows.inputs.size() / L, rows.inputs.data(), true, rows.outputs.data(), 0,
           weights.data());
  solve_lower(L, gram.data(), H, weights.data());
  solve_lower_transposed(L, gram.data(), H, weights.data());
  return weights;
}

TEST(RidgePath, HasTheWeightsOfTheNormalEquations) {
  Rows rows = noise();
  remove_means(rows.inputs, L), remove_means(rows.outputs, H);
  const RidgePath path(n, L, H, rows.inputs, rows.outputs);
  for (const double penalty : {1e-3, 1.0, 50.0}) {
    const std::vector<double> weights = path.weights(penalty), wanted = solved(rows, penalty);
    for (std::size_t i = 0; i < L * H; ++i) EXPECT_NEAR(weights[i], wanted[i], 1e-12) << penalty;
  }
}

/// Fits again without each row, with means of the rows that remain.
TEST(RidgePath, HasTheErrorOfRowsThatAreLeftOut) {
  const Rows all = noise();
  const double penalty = 2;
  double sum = 0;
  for (std::size_t out = 0; out < n; ++out) {
    Rows rest = all;
    rest.inputs.erase(rest.inputs.begin() + std::ptrdiff_t(out * L),
                      rest.inputs.begin() + std::ptrdiff_t((out + 1) * L));
    rest.outputs.erase(rest.outputs.begin() + std::ptrdiff_t(out * H),
                       rest.outputs.begin() + std::ptrdiff_t((out + 1) * H));
    const auto input_means = remove_means(rest.inputs, L),
               output_means = remove_means(rest.outputs, H);
    const std::vector<double> weights = solved(rest, penalty);
    for (std::size_t h = 0; h < H; ++h) {
      double answer = output_means[h];
      for (std::size_t j = 0; j < L; ++j)
        answer += (all.inputs[out * L + j] - input_means[j]) * weights[j * H + h];
      sum += std::abs(all.outputs[out * H + h] - answer);
    }
  }
  Rows centred = all;
  remove_means(centred.inputs, L), remove_means(centred.outputs, H);
  const RidgePath path(n, L, H, centred.inputs, centred.outputs);
  EXPECT_NEAR(path.error(penalty), sum / double(n * H), 1e-12);
}

/// Fewer rows than inputs: the rows' own decomposition.
TEST(RidgePath, HasTheSameWeightsAndErrorsWithFewRows) {
  constexpr std::size_t few = 5, inputs = 9;
  Draws draws({2});
  std::vector<double> x, y, padded(inputs * inputs), padded_y(inputs);
  for (std::size_t i = 0; i < few * inputs; ++i) x.push_back(draws.normal());
  for (std::size_t i = 0; i < few; ++i) y.push_back(draws.normal());
  remove_means(x, inputs), remove_means(y, 1);
  std::ranges::copy(x, padded.begin());  // rows of zeros have no weight
  std::ranges::copy(y, padded_y.begin());
  const RidgePath path(few, inputs, 1, x, y), same(inputs, inputs, 1, padded, padded_y);
  for (const double penalty : {1e-2, 3.0}) {
    const auto weights = path.weights(penalty), wanted = same.weights(penalty);
    for (std::size_t j = 0; j < inputs; ++j) EXPECT_NEAR(weights[j], wanted[j], 1e-10) << penalty;
    const auto errors = path.left_out(penalty);
    for (std::size_t i = 0; i < few; ++i) {
      double answer = 0, leverage = 1.0 / few;
      for (std::size_t j = 0; j < inputs; ++j) answer += x[i * inputs + j] * wanted[j];
      std::vector<double> unit(few);
      unit[i] = 1;
      const auto of_unit = RidgePath(few, inputs, 1, x, unit).weights(penalty);
      for (std::size_t j = 0; j < inputs; ++j) leverage += x[i * inputs + j] * of_unit[j];
      EXPECT_NEAR(errors[i], (y[i] - answer) / (1 - std::min(leverage, 0.99)), 1e-9) << penalty;
    }
  }
}

TEST(RidgePath, PenalizesNoiseMoreThanALine) {
  Rows rows = noise();
  remove_means(rows.inputs, L), remove_means(rows.outputs, H);
  EXPECT_GE(RidgePath(n, L, H, rows.inputs, rows.outputs).best_penalty(), double(n) / 10);
  for (std::size_t i = 0; i < n * H; ++i) rows.outputs[i] = rows.inputs[i / H * L + i % H];
  EXPECT_LE(RidgePath(n, L, H, rows.inputs, rows.outputs).best_penalty(), double(n) * 1e-5);
}

}  // namespace ridge_path_test
}  // namespace bochner
