#pragma once
/// What the processor can do that runs the program.

namespace bochner {

#if defined(__x86_64__)
inline constexpr bool is_x86 = true;
#else
inline constexpr bool is_x86 = false;
#endif

/// False on processors that are not x86-64.
bool has_avx2();
bool has_avx512();
bool has_bfloat16_pairs();

/// Returns whether the processor has all instructions that the build takes for granted. Needs no
/// constructor to have run.
bool fits_build();

}  // namespace bochner
