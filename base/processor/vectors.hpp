#pragma once
/// The widest vectors of the build's target processor.

#include <cstddef>

// A program may be compiled for another processor than the library: what depends on the processor
// is in a namespace of its own, so that the linker keeps both.
#ifdef __AVX512F__
#define BOCHNER_LANES lanes512
#else
#define BOCHNER_LANES lanes256
#endif

/// Attributes of functions that use vectors of 64 and of 32 bytes after has_avx512() or has_avx2().
#if defined(__x86_64__)
#define BOCHNER_WIDE_VECTORS [[gnu::target("avx512f")]]
#define BOCHNER_NARROW_VECTORS [[gnu::target("avx2,fma")]]
#else
#define BOCHNER_WIDE_VECTORS
#define BOCHNER_NARROW_VECTORS
#endif

namespace bochner::inline BOCHNER_LANES {

#ifdef __AVX512F__
inline constexpr bool many_registers = true;
inline constexpr std::size_t native_bytes = 64;
#else
inline constexpr bool many_registers = false;
inline constexpr std::size_t native_bytes = 32;  // with NEON, a pair of registers
#endif

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
inline constexpr bool has_fma = true;
#else
inline constexpr bool has_fma = false;
#endif

}  // namespace bochner::inline BOCHNER_LANES
