#include <bochner/base/processor/features.hpp>

namespace bochner {

#if defined(__x86_64__)
bool has_avx2() { return __builtin_cpu_supports("avx2"); }
bool has_avx512() { return __builtin_cpu_supports("avx512f"); }
bool has_bfloat16_pairs() { return __builtin_cpu_supports("avx512bf16"); }

bool fits_build() {
  __builtin_cpu_init();
#ifdef __AVX512F__
  if (!has_avx512() || !__builtin_cpu_supports("avx512vl")) return false;
#endif
#ifdef __AVX2__
  return has_avx2() && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
#else
  return true;
#endif
}
#else
bool has_avx2() { return false; }
bool has_avx512() { return false; }
bool has_bfloat16_pairs() { return false; }
bool fits_build() { return true; }
#endif

}  // namespace bochner
