#pragma once
/// Products of pairs of bfloat16. Defines BOCHNER_BFLOAT16_PAIRS if the build's target processor
/// has them (AVX512-BF16).

#ifdef __AVX512BF16__
#define BOCHNER_BFLOAT16_PAIRS
#include <immintrin.h>

#include <cstdint>

namespace bochner {

/// Returns sum + the two products of each pair of b (16) with the pair a.
template <class Vector>
inline Vector added_pair_products(std::uint32_t a, const void* b, Vector sum) {
  return Vector(_mm512_dpbf16_ps(__m512(sum), __m512bh(_mm512_set1_epi32(int(a))),
                                 __m512bh(_mm512_loadu_si512(b))));
}

}  // namespace bochner
#endif
