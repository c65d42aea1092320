#pragma once
/// Red zones between pieces of a block and in free blocks. With the address sanitizer, accesses are
/// reported, and new blocks are filled with NaN so that uninitialised reads show in results.
/// Without it, nothing is marked or written.

#include <sanitizer/asan_interface.h>

#include <cstddef>
#include <cstring>

namespace bochner {

#ifdef __SANITIZE_ADDRESS__
constexpr bool watches_memory = true;
#else
constexpr bool watches_memory = false;
#endif

/// Elements between two pieces, which preserves their alignment.
constexpr std::size_t redzone = watches_memory ? 16 : 0;

inline void forbid(const void* memory, std::size_t bytes) {
  ASAN_POISON_MEMORY_REGION(memory, bytes);
}
inline void allow(const void* memory, std::size_t bytes) {
  ASAN_UNPOISON_MEMORY_REGION(memory, bytes);
}
inline void hand_out(void* memory, std::size_t bytes) {
  allow(memory, bytes);
  if (watches_memory && bytes > 0) std::memset(memory, 0xff, bytes);
}

}  // namespace bochner
