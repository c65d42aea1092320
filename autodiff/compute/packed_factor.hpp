#pragma once
/// The right factor of a product with many rows, packed once in the order in which tiles read it.

#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/tensor.hpp>
#include <span>

namespace bochner::inline BOCHNER_PRECISION {

/// Computes products C (M, N) = A (M, K) B + beta C, a block of rows of A at a time, so that later
/// operations on a block find it in cache. One core of a Zen 3 (102 GFLOP/s), 8,192 rows from
/// memory, bias added, GFLOP/s of oneDNN 2.6.3 in tiles of 256 rows and of this class:
///
///     N     K   oneDNN   packed
///    128   128    75       92
///    512   128    83       93
///     64    64    80       94
///    256    64    79       94
///     64   256    74       91
///
/// Half of the gain comes from prefetching the next rows. With AVX-512, a core of a Granite Rapids
/// (240) reaches 160 to 205 with oneDNN, 165 to 220 with panels and 330 to 480 with AMX; on an
/// Emerald Rapids the first two are equal. Uses gemm() for what fits the cache and where
/// has_own_products() is false.
class PackedFactor {
 public:
  /// Whether about `rows` rows are multiplied in all, or few rows repeatedly.
  enum class Uses { once, again };

  /// Prepares B for about `rows` rows of A. B must stay valid until the last product.
  PackedFactor(std::size_t rows, std::size_t N, std::size_t K, const Operand& b,
               bool in_own_tiles = has_own_products(), Uses uses = Uses::once);
  PackedFactor(const PackedFactor&) = delete;
  PackedFactor& operator=(const PackedFactor&) = delete;

  /// Returns how many rows of A to multiply per call.
  std::size_t block() const;

  /// Returns whether results should go to a buffer in cache and from there to memory in whole rows:
  /// AMX writes 32 columns of 16 rows at a time, which hardware prefetchers do not foresee. Saves 9
  /// to 22 % of the forward pass of feed_forward on a Xeon.
  bool prefers_cached_results() const { return form_ == Form::parts; }

  /// Computes C = A B + beta C on the calling thread; rows of A are `lda` apart.
  void multiply(std::size_t M, const real* a, std::size_t lda, real beta, real* c, std::size_t ldc,
                std::span<const Upcoming> upcoming = {}) const;

  /// B unpacked, in panels, as bfloat16 parts for AMX, or rounded to bfloat16.
  enum class Form { whole, panels, parts, bfloat16 };

 private:
  static Form form_of(std::size_t rows, std::size_t N, std::size_t K, bool in_own_tiles, Uses uses);
  /// Transposes B: oneDNN reads rows of B faster than columns.
  void transpose_back();

  std::size_t N_, K_;
  Form form_;
  Operand b_;
  Storage packed_;  // panels, or B as rows if it was transposed
};

}  // namespace bochner::inline BOCHNER_PRECISION
