#pragma once
/// Packed matrices of compressed models: u16 bits, u16 sparse, u32 rank, then the matrix, or its
/// factors (M, rank) and (rank, N) if the rank is not 0. A sparse matrix begins with one bit per
/// entry, 1 for stored ones. Then, with 2 to 16 bits, come a float scale per row and its integer
/// multiples; with 32, floats; with 1, entries 0 or 1. Bits are filled from the lowest on.

#include <bochner/autodiff/tensor.hpp>
#include <string>
#include <string_view>

namespace bochner {

struct Packing {
  int bits = 32;  ///< per entry: 1, 2 to 16, or 32
  bool sparse = false;
};

/// Largest packed matrix, which bounds what a damaged file can claim.
inline constexpr std::size_t most_packed_entries = std::size_t(1) << 26;

std::string pack_matrix(const Tensor& w, const Packing& packing);
/// Packs the product of two factors. left (M, r), right (r, N), r >= 1
std::string pack_product(const Tensor& left, const Tensor& right, const Packing& packing);
/// Fills w (M, N). Throws DataError for invalid bytes.
void unpack_matrix(std::string_view bytes, Tensor& w);

}  // namespace bochner
