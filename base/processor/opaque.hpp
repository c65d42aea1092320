#pragma once

namespace bochner {

/// Hides the value of x from the compiler, which would compute what follows from it beforehand.
template <class Vector>
inline void make_opaque(Vector& x) {
#if defined(__x86_64__)
  asm volatile("" : "+x"(x));
#else
  asm volatile("" : "+m"(x));
#endif
}

/// Forces pending stores, for instructions of which the compiler does not know that they read.
inline void finish_stores() { asm volatile("" : : : "memory"); }

}  // namespace bochner
