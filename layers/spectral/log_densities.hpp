#pragma once
/// What log densities on the tape are made of.

#include <algorithm>
#include <bochner/autodiff/tape.hpp>
#include <bochner/layers/spectral/closed_forms.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// ln of the density of N(0, I_d). (.., d) -> (.., 1)
Var log_normal_densities(const Var& x);
/// |s|^2 of each point, smallest_square or more. (.., d) -> (.., 1)
Var squared_radii(const Var& s);
/// The same of one point of R^d, in double.
inline double squared_radius(const double* s, std::size_t d) {
  return std::max(squared_length(s, d), smallest_square);
}
/// ln Gamma(x), x > 0.
Var log_gamma_function(const Var& x);
/// ln K_order(x), see closed_forms.hpp.
Var log_bessel_k_function(double order, const Var& x);

}  // namespace bochner::inline BOCHNER_PRECISION
