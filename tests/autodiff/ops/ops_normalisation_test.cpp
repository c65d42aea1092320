#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/loss.hpp>
#include <bochner/autodiff/ops/normalisation.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <limits>

#include "autodiff/op_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace ops_normalisation_test {

using namespace op_check;

Var apply_layer_norm(Tape&, const std::vector<Var>& x) { return layer_norm(x[0], x[1], x[2]); }
Var apply_softmax(Tape&, const std::vector<Var>& x) { return softmax(x[0]); }
Var apply_log_softmax(Tape&, const std::vector<Var>& x) { return log_softmax(x[0]); }

/// Computes both norms row by row in double.
Tensor naive_norm(const Tensor& x, const Tensor& gain, const Tensor* bias, double epsilon) {
  const std::size_t D = gain.size();
  Tensor y = uninitialized(x.shape());
  for (std::size_t i = 0; i < x.size(); i += D) {
    double mean = 0, variance = 0;
    for (std::size_t j = 0; bias && j < D; ++j) mean += double(x.data()[i + j]) / double(D);
    for (std::size_t j = 0; j < D; ++j)
      variance += std::pow(double(x.data()[i + j]) - mean, 2) / double(D);
    for (std::size_t j = 0; j < D; ++j) {
      const double hat = (double(x.data()[i + j]) - mean) / std::sqrt(variance + epsilon);
      y.data()[i + j] = real(hat * gain.data()[j] + (bias ? bias->data()[j] : 0));
    }
  }
  return y;
}

const Shape shapes[] = {{5}, {6, 7}, {2, 3, 33}, {1200, 40}, {0, 4}, {3, 0}};

TEST(LayerNorm, AgreesWithItsFormula) {
  for (const Shape& shape : shapes) {
    SCOPED_TRACE(to_string(shape));
    const Tensor x = random_tensor(shape, 1), gain = random_tensor({shape.back()}, 2);
    const Tensor bias = random_tensor({shape.back()}, 3);
    if (x.size() > 0) {
      expect_near(layer_norm(x, gain, bias).value(), naive_norm(x, gain, &bias, 1e-5));
    }
  }
}

/// Gains near 1, as in training: the backward pass uses the output and frees the input.
TEST(LayerNorm, OfOrdinaryGainsKeepsItsOutputOnly) {
  const std::size_t D = 33;
  Tensor gain = random_tensor({D}, 2), bias = random_tensor({D}, 3);
  for (real& e : gain) e = 1 + real(0.1) * e;
  check_op(apply_layer_norm, {random_tensor({2, 3, D}, 1), gain, bias});
  const auto kept = [&](const Tensor& gain) {
    Tape tape;
    Var x = tape.input(random_tensor({2, D}, 1)) * 2.0;
    const std::weak_ptr<const Tensor> value = x.shared_value();
    const Var y = layer_norm(x, tape.input(gain), tape.input(bias));
    x = Var();
    return !value.expired();
  };
  EXPECT_FALSE(kept(gain));
  gain.data()[5] = 0;
  EXPECT_TRUE(kept(gain));
}

/// E x^2 - mean^2 would have no correct digit in float.
TEST(LayerNorm, KeepsItsDigitsFarFromZero) {
  const std::size_t D = 64;
  Tensor x = random_tensor({3, D}, 1);
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] += 10000;
  const Tensor gain = filled({D}, 1), bias = zeros({D});
  expect_near(layer_norm(x, gain, bias).value(), naive_norm(x, gain, &bias, 1e-5),
              is_double ? 1e-10 : 2e-3);
}

TEST(LayerNorm, OfOneColumnIsItsBias) {
  const Tensor bias = random_tensor({1}, 3);
  const auto results =
      value_and_gradients(apply_layer_norm, {random_tensor({4, 1}, 1), filled({1}, 2), bias});
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(results[0].data()[i], bias.data()[0]);
    EXPECT_EQ(results[1].data()[i], real(0));
  }
}

TEST(LayerNorm, PassesNoGradientToConstants) {
  Tape tape;
  const Var gain = tape.input(random_tensor({4}, 2));
  const Var y = layer_norm(random_tensor({3, 4}, 1), gain, zeros({4}));
  tape.backward(y, random_tensor({3, 4}, 99));
  const auto all = value_and_gradients(
      apply_layer_norm, {random_tensor({3, 4}, 1), random_tensor({4}, 2), zeros({4})});
  expect_equal_bits(gradient_of(gain), all[2]);
}

TEST(RmsNorm, AgreesWithItsFormula) {
  for (const Shape& shape : shapes) {
    SCOPED_TRACE(to_string(shape));
    const Tensor x = random_tensor(shape, 1), gain = random_tensor({shape.back()}, 2);
    if (x.size() > 0) expect_near(rms_norm(x, gain).value(), naive_norm(x, gain, nullptr, 1e-6));
  }
}

TEST(Norms, NameShapesInErrors) {
  EXPECT_EQ(error_of([] {
              layer_norm(zeros({2, 3}), zeros({4}), zeros({3}));
            }),
            "[layer_norm] gain and bias must be (D) for x (.., D): x (2, 3), gain (4), bias (3)");
  EXPECT_EQ(error_of([] {
              rms_norm(zeros({2, 3}), zeros({4}));
            }),
            "[rms_norm] gain must be (D) for x (.., D): x (2, 3), gain (4)");
  EXPECT_EQ(error_of([] { softmax(zeros({})); }), "[softmax] needs one axis or more: x ()");
}

TEST(RowOps, KeepNaNWhereverItStands) {
  const real infinity = std::numeric_limits<real>::infinity();
  for (const real other : {real(2), infinity, -infinity}) {
    for (const std::size_t at : {0, 17, 39}) {
      Tensor x = random_tensor({1, 40}, 1);
      x.data()[20] = other;
      x.data()[at] = std::numeric_limits<real>::quiet_NaN();
      for (const Var& y :
           {softmax(x), log_softmax(x), logsumexp(x, {-1}), cross_entropy(x, Indices{{1}, {3}})}) {
        for (std::size_t i = 0; i < y.size(); ++i)
          EXPECT_TRUE(std::isnan(y.data()[i])) << at << " beside " << other;
      }
    }
  }
}

// In double, exp comes from the C library.
#ifndef BOCHNER_DOUBLE
TEST(RowOps, HaveTheBitsOfEveryProcessor) {
  std::uint64_t digest = 0;
  for (std::size_t D : {1, 7, 16, 40, 129, 700}) {
    const Tensor gain = mixed({D}, 2), bias = mixed({D}, 3);
    Indices labels{{5}, {0, 0, std::int32_t(D / 2), std::int32_t(D - 1), 0}};
    const std::vector<std::function<Var(const Var&, Tape&)>> ops = {
        [&](const Var& x, Tape& tape) { return layer_norm(x, tape.input(gain), tape.input(bias)); },
        [&](const Var& x, Tape& tape) { return rms_norm(x, tape.input(gain)); },
        [&](const Var& x, Tape&) { return softmax(x); },
        [&](const Var& x, Tape&) { return log_softmax(x); },
        [&](const Var& x, Tape&) { return cross_entropy(x, labels); }};
    for (const auto& op : ops) {
      Tape tape;
      const Var x = tape.input(mixed({5, D}, 1)), y = op(x, tape);
      const Tensor value = y.value();
      tape.backward(y, mixed(y.shape(), 4));
      const Tensor slope = gradient_of(x);
      digest = digest_of(value.data(), value.size(), digest);
      digest = digest_of(slope.data(), slope.size(), digest);
    }
  }
  EXPECT_EQ(digest, 0x18de5f2107b91760u) << std::hex << digest;
}
#endif

TEST(Softmax, AgreesWithItsFormula) {
  for (const Shape& shape : shapes) {
    SCOPED_TRACE(to_string(shape));
    const Tensor x = random_tensor(shape, 1);
    const std::size_t D = shape.back();
    Tensor y = uninitialized(shape), log_y = uninitialized(shape);
    for (std::size_t i = 0; i < x.size(); ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < D; ++j) sum += std::exp(double(x.data()[i / D * D + j]));
      y.data()[i] = real(std::exp(double(x.data()[i])) / sum);
      log_y.data()[i] = real(double(x.data()[i]) - std::log(sum));
    }
    expect_near(softmax(x).value(), y);
    expect_near(log_softmax(x).value(), log_y);
  }
}

TEST(Softmax, OfOneColumnIsOne) {
  const auto results = value_and_gradients(apply_softmax, {random_tensor({4, 1}, 1)});
  EXPECT_EQ(results[0], filled({4, 1}, 1));
  EXPECT_EQ(results[1], zeros({4, 1}));
}

TEST(Softmax, TakesLargeAndMaskedLogits) {
  const real infinity = std::numeric_limits<real>::infinity();
  Tensor x = zeros({2, 4});
  std::copy_n(
      std::array<real, 8>{-infinity, 30000, 30000, -30000, -30000, -30000, -30000, -30000}.data(),
      8, x.data());
  const auto results = value_and_gradients(apply_softmax, {x});
  const real expected[] = {0,          real(0.5),  real(0.5),  0,
                           real(0.25), real(0.25), real(0.25), real(0.25)};
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(results[0].data()[i], expected[i]);
    EXPECT_TRUE(std::isfinite(results[1].data()[i]));
  }
  EXPECT_EQ(results[1].data()[0], real(0));
  const auto logarithms = value_and_gradients(apply_log_softmax, {x});
  EXPECT_EQ(logarithms[0].data()[0], -infinity);
  EXPECT_EQ(logarithms[0].data()[3], real(-60000) - std::log(real(2)));
  EXPECT_NEAR(logarithms[0].data()[4], -std::log(4.0), tolerance);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_TRUE(std::isfinite(logarithms[1].data()[i]));
}

TEST(Softmax, ShowsNotANumber) {
  Tensor x = zeros({1, 40});
  x.data()[37] = std::numeric_limits<real>::quiet_NaN();
  const Tensor y = softmax(x).value();
  for (std::size_t i = 0; i < 40; ++i) EXPECT_TRUE(std::isnan(y.data()[i]));
}

}  // namespace ops_normalisation_test
}  // namespace bochner::inline BOCHNER_PRECISION
