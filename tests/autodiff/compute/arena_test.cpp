#include <gtest/gtest.h>

#include <bochner/autodiff/compute/arena.hpp>
#include <cstdint>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {
namespace arena_test {

struct Pieces {
  real* first;
  double* doubles;
  real* last;
  Pieces(std::size_t n, Arena& arena) {
    arena.take(n, first, doubles);
    arena.take(1, last);
  }
};

TEST(Arena, HandsOutWhatItCounted) {
  for (std::size_t n : {0, 1, 2, 3, 64}) {
    std::vector<double> memory(2 * n + 2 + 3 * redzone());
    real* begin = reinterpret_cast<real*>(memory.data());
    Arena arena(begin);
    const Pieces pieces(n, arena);
    EXPECT_EQ(arena.taken(), scratch_size<Pieces>(n));
    EXPECT_EQ(pieces.first, begin);
    EXPECT_GE(reinterpret_cast<real*>(pieces.doubles), begin + n + redzone());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pieces.doubles) % alignof(double), 0u);
    EXPECT_EQ(pieces.last, reinterpret_cast<real*>(pieces.doubles + n) + redzone());
    EXPECT_EQ(pieces.last + 1 + redzone(), begin + arena.taken());
    allow(begin, memory.size() * sizeof(double));
  }
}

}  // namespace arena_test
}  // namespace bochner::inline BOCHNER_PRECISION
