#pragma once
/// Matrices in few bytes, as checkpoints of compressed models hold them:
///   u16 bits, u16 sparse, u32 rank, then the matrix, or its factors (M, rank) and (rank, N) if the
///   rank is not 0. Of a matrix: one bit for each place, if sparse, that says which entries are
///   there; then, with 2 to 16 bits, a float unit for each row and whole multiples of it; with 32,
///   floats; with 1, what is 0 or 1. Bits are filled from the lowest on.

#include <bochner/autodiff/tensor.hpp>
#include <string>
#include <string_view>

namespace bochner {

struct Packing {
  int bits = 32;  ///< of an entry: 1, 2 to 16, or 32
  bool sparse = false;
};

/// Matrices larger than that are not packed: what a damaged file can claim is bounded so.
inline constexpr std::size_t most_packed_entries = std::size_t(1) << 26;

/// w (M, N)
std::string pack_matrix(const Tensor& w, const Packing& packing);
/// Of the product of two factors. left (M, r), right (r, N), r >= 1
std::string pack_product(const Tensor& left, const Tensor& right, const Packing& packing);
/// Fills w, (M, N). Throws DataError that says what is wrong with the bytes.
void unpack_matrix(std::string_view bytes, Tensor& w);

}  // namespace bochner
