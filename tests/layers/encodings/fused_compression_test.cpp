#include <bochner/layers/encodings/fused_compression.hpp>
#include <cmath>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace fused_compression_test {

using namespace layer_check;

/// As x, the identity measures W itself.
Tensor identity(std::size_t size) {
  Tensor one = zeros({size, size});
  for (std::size_t i = 0; i < size; ++i) one(i, i) = 1;
  return one;
}

double norm(const Tensor& x) {
  double sum = 0;
  for (const real value : x) sum += double(value) * double(value);
  return std::sqrt(sum);
}

TEST(FusedCompression, PruningKeepsTheLargest) {
  Tensor w = zeros({2, 3}), mask;
  const double values[] = {3, -1, 0.5, -4, 2, 0.1};
  for (std::size_t i = 0; i < 6; ++i) w.data()[i] = real(values[i]);
  const CompressedMatrix half = pruned(w, identity(2), 0.5, mask);
  for (std::size_t i = 0; i < 6; ++i) {
    const bool kept = i == 0 || i == 3 || i == 4;
    EXPECT_EQ(mask.data()[i], real(kept));
    EXPECT_EQ(half.weight.data()[i], kept ? w.data()[i] : real(0));
  }
  EXPECT_NEAR(half.error, std::sqrt(1 + 0.25 + 0.01) / norm(w), 1e-6);
  EXPECT_EQ(half.bytes, 3 * 4u + 1u);
  EXPECT_EQ(pruned(w, identity(2), 1, mask).error, 0);
  EXPECT_EQ(pruned(w, identity(2), 0, mask).error, 1);
  EXPECT_THROW(pruned(w, identity(2), 0.5, mask, 1), std::invalid_argument);
}

TEST(FusedCompression, QuantisationErrsByHalfAUnitAtMost) {
  const Tensor w = random_tensor({20, 30}, 1);
  double error = 1;
  for (int bits : {4, 8, 12}) {
    const CompressedMatrix few = quantized(w, identity(20), bits);
    for (std::size_t r = 0; r < 20; ++r) {
      double largest = 0;
      for (std::size_t j = 0; j < 30; ++j) largest = std::max(largest, std::abs(double(w(r, j))));
      const double unit = largest / double((1 << (bits - 1)) - 1);
      for (std::size_t j = 0; j < 30; ++j) {
        const double steps = double(few.weight(r, j)) / unit;
        EXPECT_NEAR(steps, std::round(steps), 1e-3);
        EXPECT_LE(std::abs(double(few.weight(r, j)) - double(w(r, j))), 0.5001 * unit);
      }
    }
    EXPECT_LT(few.error, error / 8);
    error = few.error;
  }
  EXPECT_EQ(quantized(w, identity(20), 8).bytes, 600u + 80u);
  EXPECT_EQ(norm(quantized(zeros({2, 2}), identity(2), 8).weight), 0);
}

/// A low rank omits the remaining singular values.
TEST(FusedCompression, LowRankIsExactForMatricesOfThatRank) {
  const Tensor a = random_tensor({12, 3}, 1), b = random_tensor({3, 8}, 2);
  Tensor w = zeros({12, 8});
  for (std::size_t i = 0; i < 12 * 8; ++i) {
    for (std::size_t k = 0; k < 3; ++k) w.data()[i] += a(i / 8, k) * b(k, i % 8);
  }
  EXPECT_LT(low_rank(w, identity(12), 3).error, is_double ? 1e-12 : 1e-5);
  const CompressedMatrix two = low_rank(w, identity(12), 2), one = low_rank(w, identity(12), 1);
  EXPECT_GT(two.error, 1e-3);
  EXPECT_GT(one.error, two.error);
  EXPECT_LT(low_rank(two.weight, identity(12), 2).error, is_double ? 1e-7 : 1e-3);
  EXPECT_EQ(two.bytes, 2 * (12 + 8) * 4u);
}

/// For a diagonal matrix the entries are the singular values.
TEST(FusedCompression, LowRankLeavesOutTheSmallestSingularValues) {
  Tensor w = zeros({4, 4});
  for (std::size_t i = 0; i < 4; ++i) w(i, i) = real(i + 1);
  EXPECT_NEAR(low_rank(w, identity(4), 2).error, std::sqrt((1.0 + 4) / (1 + 4 + 9 + 16)), 1e-6);
}

/// For three rows, half of the entries of W can reproduce x W; magnitudes alone could not.
TEST(FusedCompression, WhatIsKeptIsFittedToWhatIsSeen) {
  const Tensor w = random_tensor({12, 8}, 1), x = random_tensor({3, 12}, 2);
  Tensor mask;
  const CompressedMatrix half = pruned(w, x, 0.5, mask);
  EXPECT_LT(half.error, is_double ? 1e-9 : 1e-5);
  EXPECT_GT(pruned(w, identity(12), 0.5, mask).error, 0.1);
  for (std::size_t i = 0; i < w.size(); ++i) {
    if (mask.data()[i] == 0) {
      EXPECT_EQ(half.weight.data()[i], real(0));
    }
  }
  EXPECT_LT(low_rank(w, x, 3).error, is_double ? 1e-7 : 1e-3);
  EXPECT_GT(low_rank(w, identity(12), 3).error, 0.1);
}

/// The residual is orthogonal to the kept entries.
TEST(FusedCompression, TheFitIsALeastSquaresOne) {
  const Tensor w = random_tensor({6, 3}, 1), x = random_tensor({20, 6}, 2);
  Tensor mask;
  const CompressedMatrix half = pruned(w, x, 0.5, mask);
  EXPECT_GT(half.error, 0.01);
  for (std::size_t j = 0; j < 3; ++j) {
    for (std::size_t i = 0; i < 6; ++i) {
      double slope = 0;
      for (std::size_t p = 0; p < 20; ++p) {
        double error = 0;
        for (std::size_t k = 0; k < 6; ++k)
          error += double(x(p, k)) * (double(half.weight(k, j)) - double(w(k, j)));
        slope += double(x(p, i)) * error;
      }
      if (mask(i, j) == 1) {
        EXPECT_NEAR(slope, 0, is_double ? 1e-9 : 1e-4);
      }
    }
  }
}

/// For nearly equal waves, an unbounded fit has entries so large that rounding ruins it.
TEST(FusedCompression, AFitForFewBitsStandsTheirRounding) {
  Tensor x = uninitialized({64, 24}), mask;
  for (std::size_t p = 0; p < 64; ++p)
    for (std::size_t i = 0; i < 24; ++i)
      x(p, i) = real(std::cos(0.3 * double(i) * double(p) / 64 + double(i % 2)));
  const Tensor w = random_tensor({24, 8}, 1);
  const auto rounded_error = [&](const CompressedMatrix& half) {
    return measured(w, quantized(half.weight, x, 8).weight, x, 0).error;
  };
  const CompressedMatrix free = pruned(w, x, 0.5, mask), bounded = pruned(w, x, 0.5, mask, 8);
  EXPECT_GT(rounded_error(free), 3 * rounded_error(bounded));
  EXPECT_LT(rounded_error(bounded), 0.02);
  EXPECT_GE(bounded.error, free.error);
}

TEST(FusedCompression, SaysWhatItCannotDo) {
  Tensor mask;
  EXPECT_EQ(op_check::error_of([&] {
              pruned(zeros({2, 2}), identity(2), 1.5, mask);
            }),
            "[pruned] keep = 1.5 must be in [0, 1]");
  EXPECT_EQ(op_check::error_of([] {
              quantized(zeros({2, 2}), identity(2), 1);
            }),
            "[quantized] bits = 1 must be from 2 to 16");
  EXPECT_EQ(op_check::error_of([] {
              low_rank(zeros({4, 2}), identity(3), 1);
            }),
            "[low_rank] x must be (P, M) for W (M, N): x (3, 3), W (4, 2)");
}

}  // namespace fused_compression_test
}  // namespace bochner::inline BOCHNER_PRECISION
