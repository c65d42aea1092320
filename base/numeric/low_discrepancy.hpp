#pragma once
/// Randomised low-discrepancy point sets. Each single point is uniform on the cube.

#include <bochner/base/numeric/philox.hpp>

namespace bochner {

enum class SobolRandomisation {
  shift,  ///< one random shift modulo 1 for all points; Cranley and Patterson, 1976
  owen    ///< nested uniform scrambling of the binary digits; Owen, 1995
};

/// Returns the first m Sobol points in [0, 1)^d for H independent randomisations, (H, m, d), never
/// 0 or 1. Direction numbers of Joe and Kuo, 2008; throws above 3667 dimensions or 2^32 points.
std::vector<double> sobol_points(SobolRandomisation randomisation, std::size_t H, std::size_t m,
                                 std::size_t d, const RandomFunction& random);
/// Returns points of the randomised Halton sequence, (H, m, d): each digit of each dimension is
/// permuted. Owen, "A randomized Halton algorithm in R", 2017.
std::vector<double> halton_points(std::size_t H, std::size_t m, std::size_t d,
                                  const RandomFunction& random);

}  // namespace bochner
