#include <gtest/gtest.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

#include <bochner/autodiff/compute/arena.hpp>
#include <bochner/autodiff/tensor.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <cmath>

namespace bochner {
namespace redzone_test {

#ifdef __SANITIZE_ADDRESS__
struct Pieces {
  real *first, *second;
  explicit Pieces(Arena& arena) { arena.take(3, first, second); }
};

bool is_forbidden(const void* byte) { return __asan_address_is_poisoned(byte); }

TEST(Redzone, LiesBehindATensor) {
  for (std::size_t size : {1, 2, 3, 15, 17, 100, 5000}) {
    const Tensor x = zeros({size});
    EXPECT_FALSE(is_forbidden(x.data() + size - 1)) << size;
    EXPECT_TRUE(is_forbidden(x.data() + size)) << size;
  }
}

TEST(Redzone, WhatNobodyHasWrittenIsNotANumber) {
  const Tensor x = uninitialized({100});
  const Scratch<real> scratch(scratch_size<Pieces>());
  Arena arena(scratch.local());
  const Pieces pieces(arena);
  EXPECT_TRUE(std::isnan(x.data()[0]) && std::isnan(x.data()[99]));
  EXPECT_TRUE(std::isnan(pieces.second[2]));
}

TEST(Redzone, IsWhatATensorLeavesBehind) {
  const real* left;
  {
    const Tensor x = zeros({100});
    left = x.data();
    EXPECT_FALSE(is_forbidden(left));
  }
  EXPECT_TRUE(is_forbidden(left));
  EXPECT_TRUE(is_forbidden(left + 99));
}

TEST(Redzone, LiesBehindEachBlockOfScratchMemory) {
  const Scratch<real> scratch(32);
  EXPECT_FALSE(is_forbidden(scratch.local() + 31));
  EXPECT_TRUE(is_forbidden(scratch.local() + 32));
}

TEST(Redzone, LiesBetweenPiecesOfScratchMemory) {
  const Scratch<real> scratch(scratch_size<Pieces>());
  Arena arena(scratch.local());
  const Pieces pieces(arena);
  for (const real* piece : {pieces.first, pieces.second}) {
    EXPECT_FALSE(is_forbidden(piece + 2));
    EXPECT_TRUE(is_forbidden(piece + 3));
    EXPECT_TRUE(is_forbidden(piece + 3 + redzone() - 2));
  }
}
#else
TEST(Redzone, TakesNothingWithoutTheAddressSanitizer) { EXPECT_EQ(redzone(), 0u); }
#endif

}  // namespace redzone_test
}  // namespace bochner
