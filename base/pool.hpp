#pragma once
/// Memory for tensors: free lists by size class, used through a standard allocator. From the third
/// training step with the same shapes on, nothing is requested from the system, unless a tensor has
/// 128 MiB: free blocks of that size are returned when another size is requested. When shapes
/// change between steps, large free blocks serve requests down to half their size, make way for
/// larger ones, and are returned while more than twice the recent peak is held.

#include <bochner/base/xtensor_storage.hpp>
#include <cstddef>
#include <cstring>
#include <limits>
#include <new>

// Functions of the address sanitizer; null in programs without it.
extern "C" {
__attribute__((weak)) void __asan_poison_memory_region(const volatile void*, std::size_t);
__attribute__((weak)) void __asan_unpoison_memory_region(const volatile void*, std::size_t);
}

namespace bochner {

struct PoolStatistics {
  std::size_t blocks_requested = 0;  ///< blocks ever requested from the system
  std::size_t bytes_held = 0;        ///< requested from the system and not returned
  std::size_t bytes_in_use = 0;      ///< handed out now
  std::size_t peak_bytes_in_use = 0;
};

namespace tensor_pool {
/// Returns 64-byte aligned memory of at least `bytes`; throws std::bad_alloc.
void* acquire(std::size_t bytes);
/// Returns a block to its size class. `bytes` is the size passed to acquire().
void release(void* block, std::size_t bytes) noexcept;
PoolStatistics statistics();
void reset_peak();
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
};

/// A vector of numbers, uninitialised when constructed from a size only.
template <class T>
using PooledNumbers = xt::uvector<T, PoolAllocator<T>>;

/// Red zones between pieces of a block and in free blocks. Under the address sanitizer, accesses
/// are reported, and new blocks are filled with NaN so that uninitialised reads show in results.
/// Without it, nothing is marked or written. A program may be compiled with the sanitizer and the
/// library without it, so both ask at run time.
inline bool watches_memory() { return &__asan_poison_memory_region != nullptr; }

/// Elements between two pieces, which preserves their alignment.
inline std::size_t redzone() { return watches_memory() ? 16 : 0; }

inline void forbid(const void* memory, std::size_t bytes) {
  if (watches_memory()) __asan_poison_memory_region(memory, bytes);
}
inline void allow(const void* memory, std::size_t bytes) {
  if (watches_memory()) __asan_unpoison_memory_region(memory, bytes);
}
inline void hand_out(void* memory, std::size_t bytes) {
  if (!watches_memory()) return;
  allow(memory, bytes);
  if (bytes > 0) std::memset(memory, 0xff, bytes);
}

}  // namespace bochner
