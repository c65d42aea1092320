#include <unistd.h>

#include <bochner/autodiff/compute/register_tiles.hpp>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {

namespace {

constexpr std::size_t largest_inner = 1024;
constexpr std::size_t largest_packed = 16384;  // elements of B
constexpr std::size_t largest_rows = 2048;
constexpr std::size_t worth_packing = 32;  // rows of A per panel

/// Returns the associativity of the first-level cache, as far as the system reports it.
std::size_t cache_ways() {
  static const long found = sysconf(_SC_LEVEL1_DCACHE_ASSOC);
  return found > 0 ? std::size_t(found) : 8;
}

/// Returns whether a panel with rows `ld` apart maps to so few of the 64 sets of the first-level
/// cache that it evicts itself, though contiguous it would fit. A quarter is left to A and C.
bool evicts_itself(std::size_t K, std::size_t N, std::size_t ld) {
  constexpr std::size_t line = 64, sets = 64;
  const std::size_t apart = sets * line / std::gcd(sets * line, ld * sizeof(real));
  const std::size_t row = ceil_div(register_tiles::panel_columns(N) * sizeof(real), line),
                    lines = K * row;
  const std::size_t room = cache_ways() * 3 / 4;
  return lines > room * std::min(sets, apart * row) && lines <= room * sets;
}

}  // namespace

bool is_small_product(std::size_t M, std::size_t N, std::size_t K) {
  return K <= largest_inner && M <= largest_rows && K * register_tiles::padded(N) <= largest_packed;
}

void small_product(std::size_t M, std::size_t N, std::size_t K, const Operand& a, const Operand& b,
                   real beta, real* c, std::size_t ldc) {
  using namespace register_tiles;
  const bool as_it_is = b.transpose == Transpose::no && N % width == 0 &&
                        (M < worth_packing || !evicts_itself(K, N, b.ld));
  if (as_it_is)
    return multiply_panels(M, N, K, left_factor(a), Panels<real>{b.data, b.ld, false}, beta, c, ldc,
                           Nothing());
  alignas(64) real packed[largest_packed];
  pack(K, N, b, packed);
  multiply_panels(M, N, K, left_factor(a), Panels<real>{packed, 0, true}, beta, c, ldc, Nothing());
}

}  // namespace bochner::inline BOCHNER_PRECISION
