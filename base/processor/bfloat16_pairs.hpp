#pragma once
/// Products of pairs of bfloat16. Defines BOCHNER_BFLOAT16_PAIRS if the build can multiply them; a
/// processor can after has_bfloat16_pairs().

#if defined(__AVX512BF16__) || (defined(__AVX512F__) && !defined(__clang__))
#define BOCHNER_BFLOAT16_PAIRS
#include <immintrin.h>

#include <cstdint>

namespace bochner {

/// Returns sum + the two products of each pair of b (16) with the pair a.
template <class Vector>
inline Vector added_pair_products(std::uint32_t a, const void* b, Vector sum) {
  const __m512i pairs = _mm512_set1_epi32(int(a));
#ifdef __AVX512BF16__
  return Vector(_mm512_dpbf16_ps(__m512(sum), __m512bh(pairs), __m512bh(_mm512_loadu_si512(b))));
#else
  asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(pairs), "v"(_mm512_loadu_si512(b)));
  return sum;
#endif
}

}  // namespace bochner
#endif
