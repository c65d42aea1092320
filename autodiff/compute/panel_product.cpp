#include <bochner/autodiff/compute/register_tiles.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

using register_tiles::panel_depth;

/// Rows multiplied by a panel before the next is packed: they stay in the second-level cache.
constexpr std::size_t panel_block = 256;

/// Computes one panel of columns of C from `n` on and prefetches the next panel of B.
void multiply_panel(std::size_t M, std::size_t n, std::size_t N, std::size_t K, const Operand& a,
                    const Operand& b, real beta, real* c, std::size_t ldc) {
  using namespace register_tiles;
  alignas(64) real panel[panel_depth * max_vectors * width];
  const std::size_t columns = panel_columns(N - n), count = std::min(columns, N - n);
  pack_panel(K, count, columns, columns_from(n, b), panel);
  const std::size_t left = std::min(columns, N - n - count);
  const real* behind = columns_from(n + count, b).data;
  const Upcoming next[] = {b.transpose == transposed
                               ? Upcoming{behind, left, b.ld, K}
                               : Upcoming{behind, left > 0 ? K : 0, b.ld, left}};
  multiply_panels(M, count, K, left_factor(a), Panels<real>{panel, 0, true}, beta, c + n, ldc,
                  Ahead(next, tile_count(M, count)));
}

}  // namespace

bool is_panel_product(std::size_t M, std::size_t N) {
  constexpr std::size_t min_rows = 64, min_columns = 16;
  return has_own_products() && M >= min_rows && N >= min_columns;
}

void panel_product(std::size_t M, std::size_t N, std::size_t K, const Operand& a, const Operand& b,
                   real beta, real* c, std::size_t ldc) {
  for (std::size_t i = 0; i < M; i += panel_block) {
    const Operand rows = rows_from(i, a);
    for (std::size_t k = 0; k < K; k += panel_depth) {
      for (std::size_t n = 0; n < N; n += register_tiles::panel_columns(N - n)) {
        multiply_panel(std::min(panel_block, M - i), n, N, std::min(panel_depth, K - k),
                       columns_from(k, rows), rows_from(k, b), k > 0 ? real(1) : beta, c + i * ldc,
                       ldc);
      }
    }
  }
}

}  // namespace bochner::inline BOCHNER_PRECISION
