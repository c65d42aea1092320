#pragma once
/// Base draws: the standard normal points that a density bends into its frequencies.

#include <bochner/autodiff/compute/philox.hpp>
#include <bochner/autodiff/tensor.hpp>
#include <string>

namespace bochner::inline BOCHNER_PRECISION {

/// m points of N(0, I_d) for each head: (H, m, d). "iid", or "orthogonal": blocks of d orthogonal
/// directions, uniform on the sphere (sign-corrected QR), times independent chi_d lengths. Each row
/// is exactly normal. Yu et al., "Orthogonal random features", 2016.
Tensor base_draws(const std::string& kind, std::size_t H, std::size_t m, std::size_t d,
                  const RandomFunction& random);

}  // namespace bochner::inline BOCHNER_PRECISION
