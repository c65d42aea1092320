#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/recurrence/recurrence.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/base/xtensor.hpp>
#include <complex>
#include <limits>

#include "autodiff/op_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace recurrence_test {

using namespace op_check;
using Complex = std::complex<double>;

constexpr double limit = is_double ? 1e-10 : 3e-3;

/// Returns decays (2, N, D) of absolute value below 1.
Tensor decays(std::size_t N, std::size_t D, double largest = 0.999) {
  const RandomFunction random{3, Purpose::test, 4};
  Tensor a = uninitialized({2, N, D});
  for (std::size_t i = 0; i < N * D; ++i) {
    const Complex value = std::polar(largest * std::sqrt(random.uniform(2 * i)),
                                     3.14 * (2 * random.uniform(2 * i + 1) - 1));
    a.data()[i] = real(value.real()), a.data()[N * D + i] = real(value.imag());
  }
  return a;
}

Complex number(const Tensor& x, std::size_t i) { return {x.data()[i], x.data()[x.size() / 2 + i]}; }

struct System {
  std::size_t B = 2, T = 300, N = 7, D = 19;
  Tensor u = random_tensor({B, T, D}, 1), a = decays(N, D), w = random_tensor({2, N, D}, 2);
};

TEST(StateSpace, IsItsRecurrenceInComplexNumbers) {
  const System s;
  const Tensor y = state_space(s.u, s.a, s.w).value();
  for (std::size_t b = 0; b < s.B; ++b) {
    for (std::size_t d = 0; d < s.D; ++d) {
      std::vector<Complex> h(s.N);
      for (std::size_t t = 0; t < s.T; ++t) {
        double sum = 0;
        for (std::size_t n = 0; n < s.N; ++n) {
          h[n] = number(s.a, n * s.D + d) * h[n] + double(s.u(b, t, d));
          sum += (number(s.w, n * s.D + d) * h[n]).real();
        }
        ASSERT_NEAR(y(b, t, d), sum, limit) << b << " " << t << " " << d;
      }
    }
  }
}

/// k_t = Re sum_n w_n a_n^t.
TEST(StateSpace, IsTheConvolutionWithPowersOfItsDecays) {
  const System s;
  const Tensor y = state_space(s.u, s.a, s.w).value();
  for (std::size_t d = 0; d < s.D; ++d) {
    std::vector<double> kernel(s.T);
    for (std::size_t t = 0; t < s.T; ++t)
      for (std::size_t i = d; i < s.N * s.D; i += s.D)
        kernel[t] += (number(s.w, i) * std::pow(number(s.a, i), double(t))).real();
    for (std::size_t t = 0; t < s.T; ++t) {
      double sum = 0;
      for (std::size_t j = 0; j <= t; ++j) sum += kernel[j] * double(s.u(1, t - j, d));
      ASSERT_NEAR(y(1, t, d), sum, limit) << t << " " << d;
    }
  }
}

/// Composes the same states one by one, in memory.
Var composed(const Var& u, const Var& a, const Var& w, const ScanOptions& options) {
  const std::size_t B = u.dim(0), T = u.dim(1), N = a.dim(1), D = a.dim(2);
  const Var drive = reshape(broadcast_to(reshape(u, {B, T, 1, D}), {B, T, N, D}), {B, T, N * D});
  const Var x = concat({drive, Var(zeros(drive.shape()))}, -1);
  const Var h = complex_scan(reshape(a, {2 * N * D}), x, {}, options);
  Tensor sign = filled({2 * N * D}, real(1));
  std::fill_n(sign.data() + N * D, N * D, real(-1));
  const Var products = h * (reshape(w, {2 * N * D}) * Var(sign));
  return sum(reshape(products, {B, T, 2 * N, D}), {2});
}

TEST(StateSpace, EqualsScansOfAllItsStatesWithGradients) {
  const System s;
  for (const ScanOptions& options :
       {ScanOptions{}, ScanOptions{.reverse = true, .lengths = {300, 133}}}) {
    const auto fused = value_and_gradients(
        [&](Tape&, const std::vector<Var>& x) { return state_space(x[0], x[1], x[2], options); },
        {s.u, s.a, s.w});
    const auto apart = value_and_gradients(
        [&](Tape&, const std::vector<Var>& x) { return composed(x[0], x[1], x[2], options); },
        {s.u, s.a, s.w});
    for (std::size_t i = 0; i < fused.size(); ++i) {
      SCOPED_TRACE(i);
      expect_near(fused[i], apart[i], is_double ? 1e-10 : 2e-3);
    }
  }
}

TEST(StateSpace, StepsAreTheBatchToTheBit) {
  for (const bool complex : {true, false}) {
    System s;
    if (!complex) {
      s.a = Tensor(xt::view(s.a, 0));
      s.w = Tensor(xt::view(s.w, 0));
    }
    const Tensor y = state_space(s.u, s.a, s.w).value();
    Tensor states = zeros(s.a.shape());
    for (std::size_t t = 0; t < s.T; ++t) {
      const Tensor u = xt::view(s.u, 1, t);
      const Tensor step = state_space_step(states, u, s.a, s.w);
      ASSERT_EQ(std::memcmp(step.data(), y.data() + (s.T + t) * s.D, s.D * sizeof(real)), 0) << t;
    }
  }
}

using Scan = Var (*)(const Var&, const Var&, const Var&, const ScanOptions&);
constexpr Scan scans[] = {diagonal_scan, complex_scan};

TEST(DiagonalScan, GoesOnFromWhereItStoppedToTheBit) {
  const Tensor x = random_tensor({2, 50, 38}, 1), start = random_tensor({2, 38}, 2);
  const Tensor a = real(0.4) * random_tensor({2, 50, 38}, 3);
  const auto part = [](const Tensor& all, std::size_t begin, std::size_t end) {
    return Tensor(xt::view(all, xt::all(), xt::range(begin, end)));
  };
  for (const Scan scan : scans) {
    const Tensor whole = scan(a, x, start, {}).value();
    const Tensor first = scan(part(a, 0, 17), part(x, 0, 17), start, {}).value();
    const Tensor middle = xt::view(first, xt::all(), 16);
    const Tensor second = scan(part(a, 17, 50), part(x, 17, 50), middle, {}).value();
    expect_equal_bits(part(whole, 0, 17), first);
    expect_equal_bits(part(whole, 17, 50), second);
  }
}

/// A sum over a million tokens.
TEST(DiagonalScan, SharedDecaysKeepTheirDigitsOverLongSequences) {
  const std::size_t T = std::size_t(1) << 20;
  const RandomFunction random{3, Purpose::test, 5};
  Tensor x = uninitialized({1, T, 1}), g = uninitialized({1, T, 1});
  for (std::size_t t = 0; t < T; ++t) {
    x.data()[t] = real(random.uniform(2 * t));
    g.data()[t] = real(random.uniform(2 * t + 1));
  }
  Tape tape;
  const Var a = tape.input(filled({1}, real(0.5)));
  const Var h = diagonal_scan(a, tape.constant(x));
  const Tensor states = h.value();
  tape.backward(h, Tensor(g));
  double sum = 0, adjoint = 0;
  for (std::size_t t = T; t-- > 1;) {
    adjoint = double(g.data()[t]) + 0.5 * adjoint;
    sum += adjoint * double(states.data()[t - 1]);
  }
  EXPECT_NEAR(gradient_of(a).data()[0] / sum, 1, is_double ? 1e-13 : 1e-6);
}

/// Sets x (B, T, ..) beyond the lengths to NaN.
Tensor spoiled(Tensor x, const std::vector<std::size_t>& lengths) {
  const std::size_t T = x.shape()[1], row = x.size() / (x.shape()[0] * T);
  for (std::size_t b = 0; b < lengths.size(); ++b)
    std::fill(x.data() + (b * T + lengths[b]) * row, x.data() + (b + 1) * T * row,
              std::numeric_limits<real>::quiet_NaN());
  return x;
}

TEST(DiagonalScan, AndStateSpacesTouchNothingBehindLengths) {
  const std::vector<std::size_t> lengths = {0, 3, 9};
  const Tensor x = random_tensor({3, 9, 22}, 1), a = real(0.4) * random_tensor({3, 9, 22}, 3);
  const Tensor shared = decays(4, 22), weights = random_tensor({2, 4, 22}, 2);
  for (const bool reverse : {false, true}) {
    const ScanOptions options{reverse, lengths};
    for (const Scan scan : scans) {
      const Op op = [&](Tape&, const std::vector<Var>& v) { return scan(v[0], v[1], {}, options); };
      const auto clean = value_and_gradients(op, {a, x});
      const auto padded = value_and_gradients(op, {spoiled(a, lengths), spoiled(x, lengths)});
      for (std::size_t i = 0; i < clean.size(); ++i) expect_equal_bits(padded[i], clean[i]);
    }
    const Op op = [&](Tape&, const std::vector<Var>& v) {
      return state_space(v[0], v[1], v[2], options);
    };
    const auto clean = value_and_gradients(op, {x, shared, weights});
    const auto padded = value_and_gradients(op, {spoiled(x, lengths), shared, weights});
    for (std::size_t i = 0; i < clean.size(); ++i) expect_equal_bits(padded[i], clean[i]);
  }
}

TEST(DiagonalScan, InReverseIsTheScanOfTheReversedSequence) {
  const Tensor x = random_tensor({2, 50, 38}, 1), a = real(0.4) * random_tensor({2, 50, 38}, 3);
  const auto turned = [](const Tensor& y) {
    return Tensor(xt::view(y, xt::all(), xt::range(xt::placeholders::_, xt::placeholders::_, -1)));
  };
  for (const Scan scan : scans)
    expect_equal_bits(scan(a, x, {}, {.reverse = true}).value(),
                      turned(scan(turned(a), turned(x), {}, {}).value()));
}

TEST(DiagonalScan, NeverSeesPadding) {
  const std::vector<std::size_t> lengths = {0, 3, 9};
  const Tensor x = random_tensor({3, 9, 22}, 1), start = random_tensor({3, 22}, 2);
  const Tensor a = real(0.4) * random_tensor({22}, 3);
  for (const Scan scan : scans) {
    for (const bool reverse : {false, true}) {
      const Tensor padded = scan(a, x, start, {reverse, lengths}).value();
      for (std::size_t b = 0; b < 3; ++b) {
        const Tensor own = xt::view(x, xt::range(b, b + 1), xt::range(0, lengths[b]));
        const Tensor from = xt::view(start, xt::range(b, b + 1));
        const Tensor alone = scan(a, own, from, {reverse}).value();
        const Tensor seen = xt::view(padded, xt::range(b, b + 1), xt::range(0, lengths[b]));
        expect_equal_bits(seen, alone);
        for (std::size_t i = (b * 9 + lengths[b]) * 22; i < (b + 1) * 9 * 22; ++i)
          ASSERT_EQ(padded.data()[i], 0);
      }
    }
  }
}

/// Digits of (e^z - 1) / z and its derivative survive where e^z is nearly 1.
TEST(ZeroOrderHold, HasItsDigitsNearZero) {
  using Long = std::complex<long double>;
  for (const double size : {1e-9, 1e-6, 5e-4, 0.0099, 0.0101, 0.3, 20.0}) {
    for (const double angle : {1.6, 2.0, 3.1}) {
      const Tensor of = Tensor({real(size * std::cos(angle)), real(size * std::sin(angle))});
      Parameter z{of};
      Tape tape;
      const Var y = zero_order_hold(tape(z));
      tape.backward(y, Tensor({real(1), real(0)}));
      const Long exact((long double)(of(0)), (long double)(of(1)));
      Long value = 0, slope = 0, power = 1;  // sums of z^k / (k + 1)! and k z^(k-1) / (k + 1)!
      for (int k = 0; k < 150; ++k) {
        value += power / (long double)(k + 1);
        slope += power / (long double)(k + 2);
        power *= exact / (long double)(k + 1);
      }
      const double tolerance = (is_double ? 1e-13 : 2e-7) * std::abs(value) * (size > 1 ? 1e4 : 1);
      EXPECT_NEAR(y.value()(0), double(value.real()), tolerance) << size;
      EXPECT_NEAR(y.value()(1), double(value.imag()), tolerance) << size;
      EXPECT_NEAR(z.gradient()(0), double(slope.real()), 10 * tolerance) << size;
      EXPECT_NEAR(z.gradient()(1), -double(slope.imag()), 10 * tolerance) << size;
    }
  }
}

TEST(DiagonalScan, SaysWhatDoesNotFit) {
  const Var x(zeros({2, 3, 4}));
  EXPECT_EQ(error_of([&] { diagonal_scan(Var(zeros({3})), x); }),
            "[diagonal_scan] decays must be those of the channels or of x: a (3), x (2, 3, 4)");
  EXPECT_EQ(error_of([&] {
              complex_scan(Var(zeros({3})), Var(zeros({2, 3, 3})));
            }),
            "[complex_scan] x must be (B, T, 2n): x (2, 3, 3)");
  EXPECT_EQ(error_of([&] {
              diagonal_scan(Var(zeros({4})), x, {}, {.lengths = {1, 4}});
            }),
            "[diagonal_scan] a length of 4 for sequences of 3 tokens");
  EXPECT_EQ(error_of([&] {
              state_space(x, Var(zeros({3, 5, 4})), Var(zeros({3, 5, 4})));
            }),
            "[state_space] decays and weights must both be (N, D), or (2, N, D) with imaginary "
            "parts: a (3, 5, 4), w (3, 5, 4)");
  const auto step = [](const Shape& states, const Shape& u, const Shape& a) {
    Tensor kept = zeros(states);
    return error_of([&] { state_space_step(kept, zeros(u), zeros(a), zeros(a)); });
  };
  EXPECT_EQ(step({3, 5, 4}, {4}, {3, 5, 4}),
            "[state_space_step] decays and weights must both be (N, D), or (2, N, D) with "
            "imaginary parts: a (3, 5, 4), w (3, 5, 4)");
  EXPECT_EQ(step({}, {1}, {}),
            "[state_space_step] decays and weights must both be (N, D), or (2, N, D) with "
            "imaginary parts: a (), w ()");
  EXPECT_EQ(step({5, 4}, {3}, {5, 4}),
            "[state_space_step] states must have the shape of decays, and u must be (D): states "
            "(5, 4), a (5, 4), u (3)");
}

}  // namespace recurrence_test
}  // namespace bochner::inline BOCHNER_PRECISION
