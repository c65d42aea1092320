#pragma once
/// Base draws: the standard normal points that a density bends into its frequencies.

#include <bochner/autodiff/tensor.hpp>
#include <bochner/base/numeric/philox.hpp>
#include <string>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// "iid", "orthogonal", "sobol", "sobol_owen", "halton".
std::vector<std::string> base_draw_names();

/// m points of N(0, I) for each head, each head with a randomisation of its own: (H, m, d +
/// auxiliary), d > 0. The last `auxiliary` coordinates, independent of the d others, are for
/// densities that choose or scale at random. Each row by itself is exactly normal, and finite.
///   orthogonal: blocks of d orthogonal directions, uniform on the sphere (sign-corrected QR),
///     times independent chi_d lengths; auxiliary coordinates iid. Yu et al., "Orthogonal random
///     features", 2016
///   sobol, sobol_owen, halton: low-discrepancy points through the normal quantile, see
///     compute/low_discrepancy.hpp
Tensor base_draws(const std::string& kind, std::size_t H, std::size_t m, std::size_t d,
                  std::size_t auxiliary, const RandomFunction& random);

}  // namespace bochner::inline BOCHNER_PRECISION
