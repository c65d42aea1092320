#include <bochner/autodiff/ops/recurrence/recurrence.hpp>

#include "autodiff/attention_reference.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace selective_scan_test {

using namespace attention_reference;

Op selective_op(const ScanOptions& options = {}) {
  return [=](Tape&, const std::vector<Var>& x) {
    return selective_scan(x[0], x[1], x[2], x[3], x[4], options);
  };
}

/// Returns x, step, rate, b and c.
std::vector<Tensor> selective_inputs(std::size_t B, std::size_t T, std::size_t D, std::size_t N) {
  std::vector<Tensor> in{random_tensor({B, T, D}, 1), random_tensor({B, T, D}, 2),
                         random_tensor({N, D}, 3), random_tensor({B, T, N}, 4),
                         random_tensor({B, T, N}, 5)};
  for (const std::size_t i : {1, 2})
    for (real& value : in[i]) value = std::abs(value);
  return in;
}

/// Computes the states by definition, token by token.
Wides recurrence(const std::vector<Tensor>& in) {
  const std::size_t B = in[0].shape()[0], T = in[0].shape()[1], D = in[0].shape()[2],
                    N = in[2].shape()[0];
  Wides y(in[0].size());
  for (std::size_t i = 0; i < B * D; ++i) {
    Wides h(N);
    const std::size_t b = i / D, e = i % D;
    for (std::size_t t = 0; t < T; ++t)
      for (std::size_t n = 0; n < N; ++n) {
        const Wide step = in[1](b, t, e);
        h[n] = std::exp(-step * in[2](n, e)) * h[n] + step * in[3](b, t, n) * in[0](b, t, e);
        y[(b * T + t) * D + e] += in[4](b, t, n) * h[n];
      }
  }
  return y;
}

TEST(SelectiveScan, IsItsRecurrence) {
  for (const std::size_t T : {1, 15, 16, 17, 50})
    for (const std::size_t D : {1, 5, 64, 70}) {
      const std::vector<Tensor> in = selective_inputs(2, T, D, 3);
      expect_near(value_of(selective_op(), in), recurrence(in), is_double ? 1e-12 : 1e-5);
    }
}

TEST(SelectiveScan, IsDifferentiableBothWaysAndPadded) {
  for (const bool reverse : {false, true})
    check_op(selective_op({reverse, {19, 6}}), selective_inputs(2, 19, 3, 2));
}

/// b and c have terms of several blocks of channels.
TEST(SelectiveScan, AddsTheGradientsOfAllChannels) {
  check_op(selective_op(), selective_inputs(1, 3, 66, 2));
}

TEST(SelectiveScan, StepByStepHasTheBitsOfTheBatch) {
  const std::vector<Tensor> in = selective_inputs(2, 40, 70, 3);
  const Tensor batch = value_of(selective_op(), in);
  Tensor states = zeros({2, 3, 70});
  for (std::size_t t = 0; t < 40; ++t) {
    const auto now = [&](const Tensor& x) {
      Tensor token = uninitialized({2, x.shape()[2]});
      for (std::size_t i = 0; i < token.size(); ++i)
        token.data()[i] = x(i / token.shape()[1], t, i % token.shape()[1]);
      return token;
    };
    expect_equal_bits(
        selective_scan_step(states, now(in[0]), now(in[1]), in[2], now(in[3]), now(in[4])),
        now(batch));
  }
}

TEST(SelectiveScan, SaysWhichShapesAreWrong) {
  const Var x(zeros({1, 4, 3})), states(zeros({1, 4, 2}));
  EXPECT_EQ(error_of([&] {
              selective_scan(x, x, zeros({3, 2}), states, states);
            }),
            "[selective_scan] x and step must be (B, T, D) and rate (N, D): x (1, 4, 3), step (1, "
            "4, 3), rate (3, 2)");
  EXPECT_EQ(error_of([&] {
              selective_scan(x, x, zeros({2, 3}), states, x);
            }),
            "[selective_scan] b and c must be (B, T, N) = (1, 4, 2): b (1, 4, 2), c (1, 4, 3)");
}

}  // namespace selective_scan_test
}  // namespace bochner::inline BOCHNER_PRECISION
