#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <autodiff/noise.hpp>
#include <bit>
#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/compute/packed_factor.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/numeric/product_precision.hpp>
#include <bochner/base/processor/features.hpp>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {
namespace gemm_test {

constexpr real not_a_number = std::numeric_limits<real>::quiet_NaN();

struct Product {
  Transpose transpose_a, transpose_b;
  std::size_t M, N, K, padding;
  real beta;

  std::size_t lda() const { return (transpose_a == Transpose::yes ? M : K) + padding; }
  std::size_t ldb() const { return (transpose_b == Transpose::yes ? K : N) + padding; }
  std::size_t ldc() const { return N + padding; }
  std::vector<real> a() const { return noise((transpose_a == Transpose::yes ? K : M) * lda(), 1); }
  std::vector<real> b() const { return noise((transpose_b == Transpose::yes ? N : K) * ldb(), 2); }
  std::vector<real> c() const { return noise(M * ldc(), 3); }
};

void expect_naive(const Product& p, const std::vector<real>& a, const std::vector<real>& b,
                  const std::vector<real>& before, const std::vector<real>& after) {
  // Sums of K normal products are about sqrt(K) and round K times.
  const double tolerance = 8 * double(std::numeric_limits<real>::epsilon()) * double(p.K + 8);
  for (std::size_t i = 0; i < p.M; ++i) {
    for (std::size_t j = 0; j < p.ldc(); ++j) {
      const std::size_t at = i * p.ldc() + j;
      if (j >= p.N) {
        ASSERT_EQ(after[at], before[at]) << "padding written";
        continue;
      }
      double sum = 0;
      for (std::size_t k = 0; k < p.K; ++k) {
        sum += double(p.transpose_a == Transpose::yes ? a[k * p.lda() + i] : a[i * p.lda() + k]) *
               double(p.transpose_b == Transpose::yes ? b[j * p.ldb() + k] : b[k * p.ldb() + j]);
      }
      const double expected = sum + (p.beta == 0 ? 0 : double(p.beta) * double(before[at]));
      ASSERT_NEAR(after[at], expected, tolerance) << "(" << p.M << ", " << p.K << ") x (" << p.K
                                                  << ", " << p.N << ") at " << i << ", " << j;
    }
  }
}

using Gemm = decltype(&gemm);

void check(Gemm multiply, const Product& p) {
  const std::vector<real> a = p.a(), b = p.b(), before = p.c();
  std::vector<real> after = before;
  multiply(p.M, p.N, p.K, {a.data(), p.lda(), p.transpose_a}, {b.data(), p.ldb(), p.transpose_b},
           p.beta, after.data(), p.ldc());
  expect_naive(p, a, b, before, after);
}

constexpr Transpose transposes[] = {Transpose::no, Transpose::yes};

TEST(Gemm, EqualsTheNaiveProductForAllTransposesAndOddSizes) {
  const std::size_t sizes[][3] = {{1, 1, 1},    {1, 17, 5},    {17, 1, 5},    {5, 17, 1},
                                  {3, 5, 7},    {16, 16, 16},  {31, 33, 65},  {64, 64, 64},
                                  {129, 48, 7}, {2, 200, 300}, {40, 257, 70}, {5, 3, 1100},
                                  {2100, 4, 3}};
  for (const auto& [M, N, K] : sizes) {
    for (const Transpose transpose_a : transposes) {
      for (const Transpose transpose_b : transposes) {
        for (const std::size_t padding : {0, 3}) {
          check(gemm, {transpose_a, transpose_b, M, N, K, padding, 0});
          check(gemm, {transpose_a, transpose_b, M, N, K, padding, 1});
          check(gemm, {transpose_a, transpose_b, M, N, K, padding, real(0.25)});
        }
      }
    }
  }
}

TEST(Gemm, ParallelProductEqualsTheNaiveProduct) {
  for (const Transpose transpose_a : transposes) {
    for (const Transpose transpose_b : transposes) {
      check(parallel_gemm, {transpose_a, transpose_b, 777, 65, 33, 2, 1});
      check(parallel_gemm, {transpose_a, transpose_b, 1000, 3, 2, 0, 0});
    }
  }
}

#ifndef BOCHNER_DOUBLE
std::vector<real> as_bfloat16(std::vector<real> x) {
  for (real& each : x)
    each = std::bit_cast<real>((std::bit_cast<std::uint32_t>(each) + 0x8000u) & 0xffff0000u);
  return x;
}

TEST(Gemm, RoundsFactorsToBfloat16InThatPrecision) {
  const ProductPrecisionScope scope(ProductPrecision::bfloat16);
  for (const auto& [M, N, K] : {std::array<std::size_t, 3>{16, 16, 32},
                                {19, 17, 90},
                                {50, 64, 300},
                                {257, 150, 48},
                                {300, 130, 520}}) {
    for (const Transpose transpose_a : transposes) {
      for (const Transpose transpose_b : transposes) {
        const Product p = {transpose_a, transpose_b, M, N, K, K % 3, real(K % 2)};
        const std::vector<real> a = p.a(), b = p.b(), before = p.c();
        std::vector<real> after = before;
        gemm(M, N, K, {a.data(), p.lda(), transpose_a}, {b.data(), p.ldb(), transpose_b}, p.beta,
             after.data(), p.ldc());
        expect_naive(p, as_bfloat16(a), as_bfloat16(b), before, after);
      }
    }
  }
}

TEST(Gemm, PacksFactorsInBfloat16WithTheSameBits) {
  constexpr std::size_t M = 520, N = 150, K = 300;
  const ProductPrecisionScope scope(ProductPrecision::bfloat16);
  const std::vector<real> a = noise(M * K, 1), b = noise(K * N, 2);
  std::vector<real> whole(M * N), packed(M * N);
  gemm(M, N, K, {a.data(), K}, {b.data(), N}, 0, whole.data(), N);
  const PackedFactor factor(M, N, K, {b.data(), N});
  EXPECT_LT(factor.block(), M);
  factor.multiply(M, a.data(), K, 0, packed.data(), N);
  EXPECT_EQ(packed, whole);
}

TEST(Gemm, KeepsInfinityAndNaNInBfloat16) {
  const ProductPrecisionScope scope(ProductPrecision::bfloat16);
  std::vector<real> a(16 * 16, 1), b(16 * 16, 1), c(16 * 16);
  a[0] = std::numeric_limits<real>::infinity(), a[16] = not_a_number;
  gemm(16, 16, 16, {a.data(), 16}, {b.data(), 16}, 0, c.data(), 16);
  EXPECT_EQ(c[0], std::numeric_limits<real>::infinity());
  EXPECT_TRUE(std::isnan(c[16]));
  EXPECT_EQ(c[32], 16);
}
#endif

TEST(Gemm, BetaZeroDoesNotReadC) {
  const std::vector<real> a = noise(35, 1), b = noise(21, 2);
  for (const std::size_t K : {7, 0}) {
    std::vector<real> c(15, not_a_number);
    gemm(5, 3, K, {a.data(), 7}, {b.data(), 3}, 0, c.data(), 3);
    for (const real value : c) EXPECT_FALSE(std::isnan(value)) << "K = " << K;
  }
}

TEST(Gemm, EmptyInnerSizeScalesC) {
  std::vector<real> c = {1, 2, 3, 4};
  gemm(2, 2, 0, {nullptr, 0}, {nullptr, 2}, real(0.5), c.data(), 2);
  EXPECT_EQ(c, (std::vector<real>{real(0.5), 1, real(1.5), 2}));
  gemm(2, 2, 0, {nullptr, 0}, {nullptr, 2}, 0, c.data(), 2);
  EXPECT_EQ(c, std::vector<real>(4, 0));
}

TEST(Gemm, EmptyOuterSizesTouchNothing) {
  std::vector<real> c = {7};
  for (const Gemm multiply : {gemm, parallel_gemm}) {
    multiply(0, 1, 1, {nullptr, 1}, {c.data(), 1}, 0, c.data(), 1);
    multiply(1, 0, 1, {c.data(), 1}, {nullptr, 0}, 0, c.data(), 0);
  }
  EXPECT_EQ(c[0], 7);
}

TEST(Gemm, RefusesShortLeadingDimensions) {
  std::vector<real> x(100);
  for (const auto& [lda, ldb, ldc] : {std::array<std::size_t, 3>{3, 5, 5}, {4, 4, 5}, {4, 5, 4}}) {
    EXPECT_THROW(gemm(3, 5, 4, {x.data(), lda}, {x.data(), ldb}, 0, x.data(), ldc),
                 std::invalid_argument);
  }
}

TEST(Gemm, PropagatesNaNFromTheOperands) {
  std::vector<real> a(6, 1), b(6, 0), c(4);
  a[0] = not_a_number;  // times zero
  gemm(2, 2, 3, {a.data(), 3}, {b.data(), 2}, 0, c.data(), 2);
  EXPECT_TRUE(std::isnan(c[0]) && std::isnan(c[1]));
  EXPECT_EQ(c[2], 0);
}

TEST(Gemm, RowsDoNotDependOnEachOther) {
  const std::size_t M = 37, N = 29, K = 61, kept = 20;
  const std::vector<real> b = noise(K * N, 2);
  std::vector<real> a = noise(M * K, 1), c(M * N), other(M * N);
  gemm(M, N, K, {a.data(), K}, {b.data(), N}, 0, c.data(), N);
  const std::vector<real> replacement = noise(M * K, 9);
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (i / K != kept) a[i] = i % 5 == 0 ? not_a_number : replacement[i] * 1000;
  }
  gemm(M, N, K, {a.data(), K}, {b.data(), N}, 0, other.data(), N);
  for (std::size_t j = 0; j < N; ++j) EXPECT_EQ(c[kept * N + j], other[kept * N + j]);
}

class GemmThreads : public testing::Test {
 protected:
  void TearDown() override { set_thread_count(0); }
};

TEST_F(GemmThreads, ProductsHaveTheSameBitsForAnyThreadCount) {
  const std::size_t M = 1500, N = 70, K = 90;
  const std::vector<real> a = noise(M * K, 1), b = noise(K * N, 2);
  std::vector<real> expected(M * N);
  set_thread_count(1);
  const auto multiply = [&](std::vector<real>& c) {
    parallel_gemm(M, N, K, {a.data(), K}, {b.data(), N}, 0, c.data(), N);
  };
  multiply(expected);
  for (const std::size_t threads : {2, 3, 4, 8}) {
    set_thread_count(threads);
    std::vector<real> c(M * N);
    multiply(c);
    EXPECT_EQ(c, expected) << threads;
  }
}

TEST_F(GemmThreads, TransposedProductsAccumulateWithTheSameBitsForAnyThreadCount) {
  for (const std::size_t K : {0, 1, 500, 512, 513, 4608, 5000}) {
    const Product p{Transpose::yes, Transpose::no, 21, 33, K, 2, 1};
    const std::vector<real> a = p.a(), b = p.b(), before = p.c();
    const auto accumulate = [&] {
      std::vector<real> c = before;
      accumulate_transposed_product(p.M, p.N, K, a.data(), p.lda(), b.data(), p.ldb(), c.data(),
                                    p.ldc());
      return c;
    };
    set_thread_count(1);
    const std::vector<real> expected = accumulate();
    expect_naive(p, a, b, before, expected);
    for (const std::size_t threads : {2, 3, 4, 8}) {
      set_thread_count(threads);
      EXPECT_EQ(accumulate(), expected) << K << " rows, " << threads << " threads";
    }
  }
}

TEST(Gemm, CountsItsOperations) {
  const std::vector<real> a = noise(6, 1), b = noise(12, 2);
  std::vector<real> c(8);
  const double before = gemm_operations();
  gemm(2, 4, 3, {a.data(), 3}, {b.data(), 4}, 0, c.data(), 4);
  EXPECT_EQ(gemm_operations() - before, 48);
}

/// Sends signals to this thread and records whether their handler runs on its stack.
class SignalStorm {
 public:
  SignalStorm() {
    pthread_attr_t attributes;
    pthread_getattr_np(pthread_self(), &attributes);
    void* begin = nullptr;
    std::size_t size = 0;
    pthread_attr_getstack(&attributes, &begin, &size);
    pthread_attr_destroy(&attributes);
    stack_begin = static_cast<const char*>(begin);
    stack_end = stack_begin + size;
    before_ = std::signal(SIGALRM, look_at_the_stack);
    sender_ = std::thread([this, receiver = pthread_self()] {
      for (; !ended_; std::this_thread::sleep_for(std::chrono::microseconds(100)))
        pthread_kill(receiver, SIGALRM);
    });
  }
  ~SignalStorm() {
    ended_ = true;
    sender_.join();
    std::signal(SIGALRM, before_);
  }
  static inline std::atomic<int> on_the_stack, elsewhere;

 private:
  static void look_at_the_stack(int) {
    const char* here = static_cast<const char*>(__builtin_frame_address(0));
    ++(here >= stack_begin && here < stack_end ? on_the_stack : elsewhere);
  }
  static inline const char *stack_begin, *stack_end;
  void (*before_)(int);
  std::atomic<bool> ended_ = false;
  std::thread sender_;
};

/// A library that stores something else in the stack register would have handlers write there.
TEST(Gemm, LeavesHandlersOfSignalsTheirStack) {
  const std::size_t shapes[][3] = {{48, 256, 256}, {128, 512, 256}, {300, 64, 1024}};
  for (const auto& [M, N, K] : shapes) {
    const std::vector<real> a = noise(M * K, 1), b = noise(K * N, 2);
    std::vector<real> c(M * N);
    SignalStorm::on_the_stack = SignalStorm::elsewhere = 0;
    const SignalStorm storm;
    while (SignalStorm::on_the_stack + SignalStorm::elsewhere < 100)
      gemm(M, N, K, {a.data(), K}, {b.data(), N}, 0, c.data(), N);
    EXPECT_EQ(SignalStorm::elsewhere, 0) << M << " x " << N << " x " << K;
  }
}

TEST(GemmBackend, NamesItsLibraryAndKernel) {
  EXPECT_THAT(gemm_backend().name, testing::MatchesRegex("[A-Za-z]+ [0-9]+\\.[0-9]+\\.[0-9]+.*"));
  EXPECT_FALSE(gemm_backend().kernel.empty());
  EXPECT_NE(gemm_backend().kernel, "unknown");
}

#ifdef BOCHNER_DOUBLE
TEST(GemmBackend, PrintsItsKernelAfterAProduct) {
  check(gemm, {Transpose::no, Transpose::yes, 67, 45, 129, 0, 0});
  std::printf("kernel=%s warning=%s\n", gemm_backend().kernel.c_str(),
              gemm_backend().warning.c_str());
}

/// Runs the test above in a process with OPENBLAS_CORETYPE set to the kernels of 2004.
TEST(GemmBackend, RepairsAMisdetectedOpenBlas) {
  if (!has_avx2()) GTEST_SKIP() << "no AVX2";
  if (!dlsym(RTLD_DEFAULT, "gotoblas_dynamic_init") ||
      !dlsym(RTLD_DEFAULT, "gotoblas_dynamic_quit")) {
    GTEST_SKIP() << "this BLAS has one kernel only";
  }
  char program[4096] = {};
  ASSERT_GT(readlink("/proc/self/exe", program, sizeof(program) - 1), 0);
  const std::string command =
      "OPENBLAS_CORETYPE=Prescott GTEST_TOTAL_SHARDS=1 GTEST_SHARD_INDEX=0 '" +
      std::string(program) + "' --gtest_filter=GemmBackend.PrintsItsKernelAfterAProduct 2>&1";
  FILE* child = popen(command.c_str(), "r");
  ASSERT_NE(child, nullptr);
  std::string output;
  for (char line[512]; std::fgets(line, sizeof(line), child);) output += line;
  EXPECT_EQ(pclose(child), 0) << output;
  EXPECT_THAT(output, testing::HasSubstr("kernel=")) << output;
  EXPECT_THAT(output, testing::Not(testing::HasSubstr("kernel=Prescott"))) << output;
  EXPECT_THAT(output, testing::HasSubstr("mistook this processor for Prescott")) << output;
}
#endif

}  // namespace gemm_test
}  // namespace bochner::inline BOCHNER_PRECISION
