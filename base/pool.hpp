#pragma once
/// Memory for tensors: free lists by size class behind an ordinary allocator.
/// From the third training step with the same shapes on, nothing is requested from the system, as
/// long as no tensor has 128 MiB: free blocks of that size are given back when another size is
/// wanted. Where shapes differ from step to step, large free blocks serve for less, down to half of
/// their size, make way for larger ones, and are given back while more than twice what was in use
/// at the peak of late is held.

#include <cstddef>
#include <limits>
#include <new>
#include <xtensor/xstorage.hpp>

namespace bochner {

struct PoolStatistics {
  std::size_t blocks_requested = 0;  ///< blocks ever taken from the system
  std::size_t bytes_held = 0;        ///< taken from the system and not returned
  std::size_t bytes_in_use = 0;      ///< handed out now
  std::size_t peak_bytes_in_use = 0;
};

namespace tensor_pool {
/// 64-byte aligned memory of at least `bytes`; throws std::bad_alloc.
void* acquire(std::size_t bytes);
/// Gives a block back to its size class. `bytes` is what acquire() was asked for.
void release(void* block, std::size_t bytes) noexcept;
PoolStatistics statistics();
/// Forgets what was in use before.
void reset_peak();
/// Returns every free block to the system.
void trim();
}  // namespace tensor_pool

template <class T>
struct PoolAllocator {
  using value_type = T;
  PoolAllocator() = default;
  template <class U>
  PoolAllocator(const PoolAllocator<U>&) noexcept {}
  T* allocate(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_alloc();
    return static_cast<T*>(tensor_pool::acquire(count * sizeof(T)));
  }
  void deallocate(T* block, std::size_t count) noexcept {
    tensor_pool::release(block, count * sizeof(T));
  }
  friend bool operator==(const PoolAllocator&, const PoolAllocator&) { return true; }
  friend bool operator!=(const PoolAllocator&, const PoolAllocator&) { return false; }
};

/// Not initialised where only a size is given.
template <class T>
using PooledNumbers = xt::uvector<T, PoolAllocator<T>>;

}  // namespace bochner
