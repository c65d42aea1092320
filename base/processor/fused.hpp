#pragma once
/// Explicit fused multiply-adds of vectors, a * b + c with one rounding. Whether the compiler
/// contracts a * b + c depends on the processor it tunes for, and bits must not.

#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <cmath>
#include <cstddef>
#endif

namespace bochner {

#if defined(__x86_64__)
[[gnu::target("fma")]] inline __m256 fused(__m256 a, __m256 b, __m256 c) {
  return _mm256_fmadd_ps(a, b, c);
}
[[gnu::target("fma")]] inline __m256d fused(__m256d a, __m256d b, __m256d c) {
  return _mm256_fmadd_pd(a, b, c);
}
[[gnu::target("avx512f")]] inline __m512 fused(__m512 a, __m512 b, __m512 c) {
  return _mm512_fmadd_ps(a, b, c);
}
[[gnu::target("avx512f")]] inline __m512d fused(__m512d a, __m512d b, __m512d c) {
  return _mm512_fmadd_pd(a, b, c);
}
#else
/// The compiler makes one instruction of the lanes of a register.
template <class Vector>
requires requires(Vector x) { x[0]; }
inline Vector fused(Vector a, Vector b, Vector c) {
  for (std::size_t i = 0; i < sizeof(Vector) / sizeof(a[0]); ++i) c[i] = std::fma(a[i], b[i], c[i]);
  return c;
}
#endif

}  // namespace bochner
