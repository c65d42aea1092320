#pragma once
namespace bochner {

/// Asks for the cache line at x. Volatile: GCC takes a function that does nothing but
/// __builtin_prefetch() for one without effects, and leaves out its calls.
inline void prefetch(const void* x) {
  asm volatile("prefetcht0 %0" : : "m"(*static_cast<const char*>(x)));
}

}  // namespace bochner
