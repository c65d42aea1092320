#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/normalisation.hpp>

#include "autodiff/op_check.hpp"
#include "autodiff/op_table.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace batch_norm_test {

using namespace op_check;
using Inputs = std::vector<Var>;

OpRow row(const char* variant, std::vector<std::size_t> lengths, std::vector<Shapes> shapes) {
  return {"batch_norm", variant,
          [lengths](Tape&, const Inputs& x) { return batch_norm(x[0], x[1], x[2], lengths); },
          std::move(shapes)};
}

INSTANTIATE_TEST_SUITE_P(BatchNorm, OpTest,
                         ::testing::Values(row("", {},
                                               {{{4, 3, 5}, {5}, {5}},
                                                {{6, 3}, {3}, {3}},
                                                {{0, 3}, {3}, {3}},
                                                {{3, 0}, {0}, {0}},
                                                {{7, 301, 17}, {17}, {17}}}),
                                           row("Masked", {5, 2, 0, 7},
                                               {{{4, 7, 3}, {3}, {3}}, {{4, 7, 0}, {0}, {0}}}),
                                           row("AllMasked", {0, 0}, {{{2, 3, 4}, {4}, {4}}})),
                         test_name);

/// Computes each channel in double.
Tensor naive(const Tensor& x, const Tensor& gain, const Tensor& bias,
             const std::vector<std::size_t>& lengths) {
  const std::size_t T = x.shape()[1], D = x.shape()[2];
  Tensor y = zeros(x.shape());
  for (std::size_t j = 0; j < D; ++j) {
    std::vector<std::size_t> tokens;
    for (std::size_t b = 0; b < lengths.size(); ++b)
      for (std::size_t t = 0; t < lengths[b]; ++t) tokens.push_back((b * T + t) * D + j);
    double mean = 0, variance = 0;
    for (const std::size_t i : tokens) mean += double(x.data()[i]) / double(tokens.size());
    for (const std::size_t i : tokens)
      variance += std::pow(double(x.data()[i]) - mean, 2) / double(tokens.size());
    for (const std::size_t i : tokens)
      y.data()[i] =
          real((double(x.data()[i]) - mean) / std::sqrt(variance + 1e-5) * double(gain.data()[j]) +
               double(bias.data()[j]));
  }
  return y;
}

TEST(BatchNorm, AgreesWithItsFormula) {
  const std::vector<std::size_t> lengths{5, 2, 7, 1};
  const Tensor x = random_tensor({4, 7, 6}, 1), gain = random_tensor({6}, 2);
  const Tensor bias = random_tensor({6}, 3);
  expect_near(batch_norm(x, gain, bias, lengths).value(), naive(x, gain, bias, lengths));
  expect_near(batch_norm(x, gain, bias).value(), naive(x, gain, bias, {7, 7, 7, 7}));
}

TEST(BatchNorm, KeepsItsDigitsFarFromZero) {
  Tensor x = random_tensor({3, 50, 4}, 1);
  for (real& e : x) e += 10000;
  const Tensor gain = filled({4}, 1), bias = zeros({4});
  expect_near(batch_norm(x, gain, bias).value(), naive(x, gain, bias, {50, 50, 50}),
              is_double ? 1e-10 : 1e-6);
}

/// Whatever the padding contains, and however long it is.
TEST(BatchNorm, SeesNoPadding) {
  const auto results = [](std::size_t T, double padding) {
    const std::vector<std::size_t> lengths{3, 1};
    Tensor x = filled({2, T, 4}, real(padding));
    const Tensor tokens = random_tensor({2, 3, 4}, 1);
    for (std::size_t b = 0; b < 2; ++b)
      std::copy_n(tokens.data() + b * 12, lengths[b] * 4, x.data() + b * T * 4);
    const Op op = [&](Tape&, const Inputs& v) { return batch_norm(v[0], v[1], v[2], lengths); };
    std::vector<Tensor> all{value_of(op, {x, filled({4}, 2), zeros({4})})};
    Tape tape;
    const Var in = tape.input(x), gain = tape.input(filled({4}, 2));
    const Var y = batch_norm(in, gain, zeros({4}), lengths);
    Tensor g = filled({2, T, 4}, 3);
    for (std::size_t b = 0; b < 2; ++b)
      std::copy_n(tokens.data() + b * 12, lengths[b] * 4, g.data() + b * T * 4);
    tape.backward(y, g);
    all.push_back(gradient_of(in));
    std::vector<real> seen;
    for (const Tensor& tensor : all)
      for (std::size_t b = 0; b < 2; ++b)
        for (std::size_t i = 0; i < T * 4; ++i) {
          const real value = tensor.data()[b * T * 4 + i];
          const bool real_token = i < lengths[b] * 4;
          if (real_token) seen.push_back(value);
          EXPECT_TRUE(real_token || value == 0);
        }
    const Tensor of_gain = gradient_of(gain);
    seen.insert(seen.end(), of_gain.begin(), of_gain.end());
    return seen;
  };
  EXPECT_EQ(results(3, 1), results(9, 1e6));
  EXPECT_EQ(results(3, 1), results(4000, 1e6));
}

TEST(BatchNorm, TellsMomentsWhenItIsLearnedFrom) {
  const Tensor x = random_tensor({2, 3, 2}, 1);
  std::vector<BatchMoments> told;
  const auto learned = [&](const BatchMoments& moments) { told.push_back(moments); };
  Tape tape;
  const auto f = [&](Tape& segment, const Var& input) {
    return batch_norm(input, segment.constant(filled({2}, 1)), segment.constant(zeros({2})), {},
                      learned);
  };
  const Var y = checkpoint(tape, f, tape.input(x));
  EXPECT_TRUE(told.empty());
  tape.backward(y, random_tensor(y.shape(), 2));
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].tokens, 6u);
  double mean = 0;
  for (std::size_t i = 0; i < 6; ++i) mean += double(x.data()[2 * i + 1]) / 6;
  EXPECT_NEAR(told[0].mean[1], mean, 1e-12);
}

TEST(BatchNorm, NamesShapesInErrors) {
  EXPECT_EQ(error_of([] {
              batch_norm(zeros({2, 3}), zeros({4}), zeros({3}));
            }),
            "[batch_norm] gain and bias must be (D) for x (.., D): x (2, 3), gain (4), bias (3)");
  EXPECT_EQ(error_of([] {
              batch_norm(zeros({2, 3, 1}), zeros({1}), zeros({1}), {3, 4});
            }),
            "[batch_norm] a length must be at most T = 3, not 4");
}

}  // namespace batch_norm_test
}  // namespace bochner::inline BOCHNER_PRECISION
