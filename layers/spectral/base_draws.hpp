#pragma once
/// Base draws: standard normal points that densities transform into frequencies.

#include <bochner/autodiff/tensor.hpp>
#include <bochner/base/numeric/philox.hpp>
#include <string>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns "iid", "orthogonal", "sobol", "sobol_owen", "halton".
std::vector<std::string> base_draw_names();

/// Draws m points of N(0, I) per head, with separate randomization: (H, m, d + auxiliary), d > 0.
/// The last `auxiliary` coordinates are independent, for densities with random choices or scales.
/// Each row is exactly normal, and finite.
///   orthogonal: blocks of d orthogonal directions, uniform on the sphere (sign-corrected QR),
///     times independent chi_d lengths; auxiliary coordinates iid. Yu et al., "Orthogonal random
///     features", 2016
///   sobol, sobol_owen, halton: low-discrepancy points through the normal quantile, see
///     base/numeric/low_discrepancy.hpp
Tensor base_draws(const std::string& kind, std::size_t H, std::size_t m, std::size_t d,
                  std::size_t auxiliary, const RandomFunction& random);

}  // namespace bochner::inline BOCHNER_PRECISION
