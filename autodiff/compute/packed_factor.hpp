#pragma once
/// The right factor of a product with many rows, packed once in the order in which tiles read it.

#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/tensor.hpp>
#include <span>

namespace bochner::inline BOCHNER_PRECISION {

/// B (K, N) of products C (M, N) = A (M, K) B + beta C, a block of rows of A at a time, so that
/// what is done to the results next finds them in cache. One core of a Zen 3 (102 GFLOP/s), 8,192
/// rows from memory, bias added, GFLOP/s of oneDNN 2.6.3 in tiles of 256 rows against this:
///
///     N     K   oneDNN   packed
///    128   128    75       92
///    512   128    83       93
///     64    64    80       94
///    256    64    79       94
///     64   256    74       91
///
/// Half of the gain is that the next rows are on their way into the cache meanwhile. With AVX-512,
/// a core of a Granite Rapids (240) multiplies the same by oneDNN at 160 to 205 and in these panels
/// at 165 to 220, and by parts for matrix units at 330 to 480; an Emerald Rapids takes either of
/// the first two as long. gemm() is asked for what fits the cache, and where we have no products of
/// our own.
class PackedFactor {
 public:
  /// What is multiplied: about `rows` rows in all, or few of them again and again.
  enum class Uses { once, again };

  /// For about `rows` rows of A in all. B is read until the last product.
  PackedFactor(std::size_t rows, std::size_t N, std::size_t K, const Operand& b,
               bool in_own_tiles = has_own_products(), Uses uses = Uses::once);
  PackedFactor(const PackedFactor&) = delete;
  PackedFactor& operator=(const PackedFactor&) = delete;

  /// How many rows of A to multiply at a time.
  std::size_t block() const;

  /// Whether a product that goes to memory is better written to a place in cache first, and from
  /// there in whole rows: matrix units write 32 columns of 16 rows at a time, which no prefetcher
  /// foresees. It saves 9 to 22 % of the forward pass of feed_forward on a Xeon.
  bool wants_cache() const { return form_ == Form::parts; }

  /// C = A B + beta C, on the calling thread; rows of A lie `lda` apart.
  void multiply(std::size_t M, const real* a, std::size_t lda, real beta, real* c, std::size_t ldc,
                std::span<const Upcoming> upcoming = {}) const;

  /// As it lies, in panels, or as parts for matrix units.
  enum class Form { whole, panels, parts };

 private:
  static Form form_of(std::size_t rows, std::size_t N, std::size_t K, bool in_own_tiles, Uses uses);
  /// oneDNN reads rows of B faster than columns.
  void unflip();

  std::size_t N_, K_;
  Form form_;
  Operand b_;
  Storage packed_;  // in panels, or B as rows where it came transposed
};

}  // namespace bochner::inline BOCHNER_PRECISION
