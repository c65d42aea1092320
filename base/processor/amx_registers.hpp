#pragma once
/// The tile registers of Intel AMX, which multiplies bfloat16. Defines BOCHNER_AMX if the build can
/// use them; a processor can after is_permitted(). GCC's intrinsics of tiles are assembly, which
/// needs no option.

#if defined(__AVX512F__) && (defined(__AMX_BF16__) || !defined(__clang__))
#define BOCHNER_AMX
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace bochner::amx {

/// Rows of a tile, and its columns of floats or of pairs of bfloat16.
inline constexpr std::size_t edge = 16;

/// Returns whether the processor has AMX and the system permits it.
inline bool is_permitted() {
  constexpr int request = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM
  return __builtin_cpu_supports("avx512bw") && syscall(SYS_arch_prctl, request, tile_data) == 0;
}

struct alignas(64) TileShapes {
  std::uint8_t palette = 1, start = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
inline constexpr TileShapes tile_shapes;

[[gnu::target("amx-tile")]] inline void enable() { _tile_loadconfig(&tile_shapes); }
[[gnu::target("amx-tile")]] inline void release() { _tile_release(); }

/// Tile register allocation: 0 to 3 accumulate (two rows of tiles), 4 and 5 hold A, 6 and 7 hold B.
template <std::size_t rows, std::size_t columns>
struct Registers {
  static void zero() {
    _tile_zero(0);
    if constexpr (columns > 1) _tile_zero(1);
    if constexpr (rows > 1) _tile_zero(2);
    if constexpr (rows > 1 && columns > 1) _tile_zero(3);
  }
  static void load_sums(const float* c, std::size_t ldc) {
    _tile_loadd(0, c, ldc * sizeof(float));
    if constexpr (columns > 1) _tile_loadd(1, c + edge, ldc * sizeof(float));
    if constexpr (rows > 1) _tile_loadd(2, c + edge * ldc, ldc * sizeof(float));
    if constexpr (rows > 1 && columns > 1)
      _tile_loadd(3, c + edge * ldc + edge, ldc * sizeof(float));
  }
  static void store_sums(float* c, std::size_t ldc) {
    _tile_stored(0, c, ldc * sizeof(float));
    if constexpr (columns > 1) _tile_stored(1, c + edge, ldc * sizeof(float));
    if constexpr (rows > 1) _tile_stored(2, c + edge * ldc, ldc * sizeof(float));
    if constexpr (rows > 1 && columns > 1)
      _tile_stored(3, c + edge * ldc + edge, ldc * sizeof(float));
  }
  static void load_a(const std::uint32_t* a, std::size_t next) {
    _tile_loadd(4, a, 64);
    if constexpr (rows > 1) _tile_loadd(5, a + next, 64);
  }
  static void load_b(const std::uint32_t* b, std::size_t next) {
    _tile_loadd(6, b, 64);
    if constexpr (columns > 1) _tile_loadd(7, b + next, 64);
  }
  static void add_products() {
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (columns > 1) _tile_dpbf16ps(1, 4, 7);
    if constexpr (rows > 1) _tile_dpbf16ps(2, 5, 6);
    if constexpr (rows > 1 && columns > 1) _tile_dpbf16ps(3, 5, 7);
  }
};

}  // namespace bochner::amx
#endif
