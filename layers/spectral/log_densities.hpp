#pragma once
/// Building blocks of log densities on the tape.

#include <algorithm>
#include <bochner/autodiff/tape.hpp>
#include <bochner/layers/spectral/closed_forms.hpp>
#include <functional>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns ln of the density of N(0, I_d). (.., d) -> (.., 1)
Var log_normal_densities(const Var& x);
/// Returns |s|^2 of each point, at least min_square. (.., d) -> (.., 1)
Var squared_radii(const Var& s);
/// Returns |s|^2 of one point of R^d in double, at least min_square.
inline double squared_radius(const double* s, std::size_t d) {
  return std::max(squared_length(s, d), min_square);
}
/// Value of a function of a number and its head's shape, and both derivatives.
struct ShapedValue {
  double value, by_x, by_shape;
};
/// Function for a fixed shape.
using ShapedFunction = std::function<ShapedValue(double x)>;
/// Computes f(shape)(x) in double: large terms cancel. x (H, n, 1), shape (H, 1, 1) -> (H, n, 1)
Var by_shape(const char* name, const Var& x, const Var& shape,
             const std::function<ShapedFunction(double shape)>& f);
/// Returns ln K_order(x), see closed_forms.hpp.
Var log_bessel_k_function(double order, const Var& x);

}  // namespace bochner::inline BOCHNER_PRECISION
