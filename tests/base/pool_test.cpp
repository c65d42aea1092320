#include <gtest/gtest.h>

#include <bochner/autodiff/tensor.hpp>
#include <bochner/base/pool.hpp>

namespace bochner {
namespace tensor_pool_test {

TEST(Pool, GivesTheSameBlockAgain) {
  void* first = tensor_pool::acquire(1000);
  tensor_pool::release(first, 1000);
  const auto before = tensor_pool::statistics().blocks_requested;
  void* second = tensor_pool::acquire(1001);
  EXPECT_EQ(first, second);
  EXPECT_EQ(tensor_pool::statistics().blocks_requested, before);
  tensor_pool::release(second, 1001);
}

TEST(Pool, AlignsToCacheLines) {
  for (std::size_t bytes : {1, 63, 65, 4097, 1 << 20}) {
    void* block = tensor_pool::acquire(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 64, 0u) << bytes;
    tensor_pool::release(block, bytes);
  }
}

TEST(Pool, RefusesSizesThatOverflow) {
  EXPECT_THROW(tensor_pool::acquire(std::size_t(-1) - 3), std::bad_alloc);
  EXPECT_THROW(PoolAllocator<double>().allocate(std::size_t(1) << 62), std::bad_alloc);
}

TEST(Pool, GivesHugeFreeBlocksBackBeforeItRequestsAnotherSize) {
  constexpr std::size_t small = 1 << 20, huge = 1 << 28;
  tensor_pool::release(tensor_pool::acquire(huge), huge);
  tensor_pool::release(tensor_pool::acquire(small), small);
  const auto held = tensor_pool::statistics().bytes_held;
  tensor_pool::release(tensor_pool::acquire(huge / 2), huge / 2);
  EXPECT_EQ(tensor_pool::statistics().bytes_held, held - huge / 2);
  const auto requested = tensor_pool::statistics().blocks_requested;
  tensor_pool::release(tensor_pool::acquire(small), small);
  EXPECT_EQ(tensor_pool::statistics().blocks_requested, requested);
  tensor_pool::trim();
}

TEST(Pool, ServesForLessByALargeFreeBlock) {
  tensor_pool::trim();
  constexpr std::size_t whole = std::size_t(8) << 20, more_than_half = whole / 2 + 1;
  void* first = tensor_pool::acquire(whole);
  tensor_pool::release(first, whole);
  const auto requested = tensor_pool::statistics().blocks_requested;
  void* second = tensor_pool::acquire(more_than_half);
  EXPECT_EQ(first, second);
  tensor_pool::release(second, more_than_half);
  void* third = tensor_pool::acquire(whole);
  EXPECT_EQ(first, third);
  EXPECT_EQ(tensor_pool::statistics().blocks_requested, requested);
  void* half = tensor_pool::acquire(whole / 2);
  EXPECT_EQ(tensor_pool::statistics().blocks_requested, requested + 1);
  tensor_pool::release(half, whole / 2);
  tensor_pool::release(third, whole);
  tensor_pool::trim();
}

TEST(Pool, ReplacesAFreeBlockByALargerOne) {
  tensor_pool::trim();
  const auto held = tensor_pool::statistics().bytes_held;
  constexpr std::size_t less = std::size_t(5) << 20, more = std::size_t(8) << 20;
  tensor_pool::release(tensor_pool::acquire(less), less);
  tensor_pool::release(tensor_pool::acquire(more), more);
  EXPECT_EQ(tensor_pool::statistics().bytes_held, held + more);
  tensor_pool::trim();
}

/// Steps over batches of other lengths: the blocks of the longest serve for all, and little else is
/// held.
TEST(Pool, RequestsNothingMoreWhereLengthsDiffer) {
  tensor_pool::trim();
  tensor_pool::reset_peak();
  const auto step = [](std::size_t length) {
    std::vector<std::pair<void*, std::size_t>> blocks;
    for (std::size_t layer = 0; layer < 6; ++layer) {
      for (const std::size_t width : {1024, 3072, 4096}) {
        const std::size_t bytes = width * length;
        blocks.emplace_back(tensor_pool::acquire(bytes), bytes);
      }
    }
    for (const auto& [block, bytes] : blocks) tensor_pool::release(block, bytes);
  };
  std::size_t requested = 0;
  for (std::size_t i = 0; i < 60; ++i) {
    if (i == 40) requested = tensor_pool::statistics().blocks_requested;
    step(2000 - i * 617 % 800);
  }
  EXPECT_EQ(tensor_pool::statistics().blocks_requested, requested);
  EXPECT_LE(tensor_pool::statistics().bytes_held,
            tensor_pool::statistics().peak_bytes_in_use * 5 / 4);
  tensor_pool::trim();
}

/// Sequences of other lengths in every batch: what is held stays near what was in use.
TEST(Pool, KeepsFewLargeBlocksOfOtherSizes) {
  tensor_pool::trim();
  tensor_pool::reset_peak();
  constexpr std::size_t most = std::size_t(1) << 26;
  tensor_pool::release(tensor_pool::acquire(most), most);
  for (std::size_t bytes = most; bytes > most / 16; bytes -= most / 64) {
    void* block = tensor_pool::acquire(bytes);
    EXPECT_LE(tensor_pool::statistics().bytes_held, 3 * most) << bytes;
    tensor_pool::release(block, bytes);
  }
  tensor_pool::trim();
}

/// What was in use long ago, as in a validation, is idle memory at last.
TEST(Pool, ForgetsItsPeak) {
  tensor_pool::trim();
  tensor_pool::reset_peak();
  constexpr std::size_t most = std::size_t(1) << 26, step = std::size_t(1) << 20;
  tensor_pool::release(tensor_pool::acquire(most), most);
  const auto held = tensor_pool::statistics().bytes_held;
  for (int i = 0; i < 10000; ++i) tensor_pool::release(tensor_pool::acquire(step), step);
  EXPECT_GE(tensor_pool::statistics().bytes_held, held);
  for (int i = 0; i < 200000; ++i) tensor_pool::release(tensor_pool::acquire(step), step);
  EXPECT_LE(tensor_pool::statistics().bytes_held, held - most + step);
  EXPECT_GE(tensor_pool::statistics().peak_bytes_in_use, most);
}

TEST(Pool, TrimReturnsFreeBlocks) {
  tensor_pool::release(tensor_pool::acquire(1 << 22), 1 << 22);
  const auto held = tensor_pool::statistics().bytes_held;
  tensor_pool::trim();
  EXPECT_LT(tensor_pool::statistics().bytes_held, held);
}

}  // namespace tensor_pool_test
}  // namespace bochner
