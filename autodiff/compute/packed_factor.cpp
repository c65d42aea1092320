#include <bochner/autodiff/compute/bfloat16/amx.hpp>
#include <bochner/autodiff/compute/bfloat16/bfloat16_product.hpp>
#include <bochner/autodiff/compute/packed_factor.hpp>
#include <bochner/autodiff/compute/register_tiles.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

using register_tiles::padded, register_tiles::panel_depth;

/// Rows per block: eight register tiles, or eight AMX tiles, all but the first two of which are
/// packed while others are multiplied.
constexpr std::size_t panel_rows = 48, unit_rows = 128;

/// Returns whether packing pays: rows and results exceed the second-level cache.
bool is_worth_packing(std::size_t rows, std::size_t N, std::size_t K) {
  constexpr std::size_t min_rows = 128, cached = 131072;
  return K > 0 && rows >= min_rows && rows * (N + K) >= cached;
}

}  // namespace

PackedFactor::Form PackedFactor::form_of(std::size_t rows, std::size_t N, std::size_t K,
                                         bool in_own_tiles, Uses uses) {
  const bool again = uses == Uses::again;
  const bool rounds = is_bfloat16_product(rows, N, K);
  if (!(in_own_tiles || rounds) || K == 0 || !(again || is_worth_packing(rows, N, K)))
    return Form::whole;
  if (is_amx_product(again ? N : rows, N, K)) return Form::parts;
  return rounds ? Form::bfloat16 : Form::panels;
}

PackedFactor::PackedFactor(std::size_t rows, std::size_t N, std::size_t K, const Operand& b,
                           bool in_own_tiles, Uses uses)
    : N_(N), K_(K), form_(form_of(rows, N, K, in_own_tiles, uses)), b_(b) {
  if (form_ == Form::whole) {
    if (b.transpose == transposed && rows > 0) transpose_back();
    return;
  }
  if (form_ == Form::bfloat16) {
    packed_ = Storage(bfloat16_size(N, K));
    pack_bfloat16(N, K, b, packed_.data());
    return;
  }
  if (form_ == Form::parts) {
    packed_ = Storage(parts_size(N, K));
    pack_right(N, K, b, packed_.data());
    return;
  }
  packed_ = Storage(K * padded(N));
  for (std::size_t k = 0; k < K; k += panel_depth) {
    const std::size_t depth = std::min(panel_depth, K - k);
    register_tiles::pack(depth, N, rows_from(k, b), packed_.data() + k * padded(N));
  }
}

void PackedFactor::transpose_back() {
  packed_ = Storage(K_ * N_);
  transpose_matrix(N_, K_, b_.data, b_.ld, packed_.data(), N_);
  b_ = {packed_.data(), N_};
}

std::size_t PackedFactor::block() const {
  if (form_ == Form::whole) return std::numeric_limits<std::size_t>::max();
  return form_ == Form::parts ? unit_rows : panel_rows;
}

void PackedFactor::multiply(std::size_t M, const real* a, std::size_t lda, real beta, real* c,
                            std::size_t ldc, std::span<const Upcoming> upcoming) const {
  if (form_ == Form::whole) return gemm(M, N_, K_, {a, lda}, b_, beta, c, ldc);
  count_product(M, N_, K_);
  if (form_ == Form::parts)
    return multiply_by_packed(M, N_, K_, a, lda, packed_.data(), beta, c, ldc);
  if (form_ == Form::bfloat16)
    return multiply_by_bfloat16(M, N_, K_, a, lda, packed_.data(), beta, c, ldc, upcoming);
  using namespace register_tiles;
  const std::size_t parts = ceil_div(K_, panel_depth);
  Ahead ahead(upcoming, parts * tile_count(M, N_));
  for (std::size_t k = 0; k < K_; k += panel_depth) {
    const std::size_t depth = std::min(panel_depth, K_ - k);
    multiply_panels(M, N_, depth, LeftFactor<real>{a + k, lda},
                    Panels<real>{packed_.data() + k * padded(N_), 0, true}, k > 0 ? real(1) : beta,
                    c, ldc, ahead);
  }
}

}  // namespace bochner::inline BOCHNER_PRECISION
