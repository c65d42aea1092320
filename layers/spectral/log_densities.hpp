#pragma once
/// What log densities on the tape are made of.

#include <algorithm>
#include <bochner/autodiff/tape.hpp>
#include <bochner/layers/spectral/closed_forms.hpp>
#include <functional>

namespace bochner::inline BOCHNER_PRECISION {

/// ln of the density of N(0, I_d). (.., d) -> (.., 1)
Var log_normal_densities(const Var& x);
/// |s|^2 of each point, smallest_square or more. (.., d) -> (.., 1)
Var squared_radii(const Var& s);
/// The same of one point of R^d, in double.
inline double squared_radius(const double* s, std::size_t d) {
  return std::max(squared_length(s, d), smallest_square);
}
/// A function of a number and of its head's shape, and its derivatives by both.
struct ShapedValue {
  double value, by_x, by_shape;
};
/// What the shape of a head makes of it.
using ShapedFunction = std::function<ShapedValue(double x)>;
/// f(shape)(x) in double, rounded once: large terms that cancel leave noise in float. x (H, n, 1),
/// shape (H, 1, 1) -> (H, n, 1)
Var by_shape(const char* name, const Var& x, const Var& shape,
             const std::function<ShapedFunction(double shape)>& f);
/// ln K_order(x), see closed_forms.hpp.
Var log_bessel_k_function(double order, const Var& x);

}  // namespace bochner::inline BOCHNER_PRECISION
