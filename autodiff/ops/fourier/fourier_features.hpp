#pragma once
/// Fourier features with learned frequencies, for encodings of space and time. Coordinates are
/// double, and so are phases until they are reduced modulo 2 pi; see compute/phase.hpp.

#include <bochner/autodiff/tape.hpp>
#include <bochner/base/time_array.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Points with `dimensions` coordinates each, one point after the other.
struct Places {
  std::size_t dimensions = 1;
  std::vector<double> coordinates;
  std::size_t count() const { return dimensions == 0 ? 0 : coordinates.size() / dimensions; }
};

/// Coordinates of a regular grid along each of its axes.
using GridAxes = std::vector<std::vector<double>>;
/// Returns all nodes of a grid, the last axis fastest.
Places nodes_of(const GridAxes& axes);

/// Returns [sin(w_1 . x), .., sin(w_m . x), cos(w_1 . x), .., cos(w_m . x)] for every point x. w
/// (m, d), in radians per unit of the coordinates -> (N, 2m)
Var fourier_features_at(const Places& places, const Var& w);
/// Returns fourier_features_at() of all grid nodes by the addition theorem, from n_1 + .. + n_d
/// sines and cosines per frequency. w (m, d) -> (n_1 .. n_d, 2m)
Var grid_fourier_features(const GridAxes& axes, const Var& w);

/// Returns y(t) = m^(-1/2) [cos w_1 t .. cos w_m t, sin w_1 t .. sin w_m t], of length 1, with y(t)
/// . y(s) = mean_i cos w_i (t - s). times (..), w (m), m >= 1 -> (.., 2m)
Var fourier_time(const Times& times, const Var& w);

/// Returns the terms of truncated Fourier series with k base frequencies and one row of amplitudes
/// each: [a_0, a_1 cos w t .. a_J cos J w t, a_(J+1) sin w t .. a_2J sin J w t]. times (..), w (k),
/// a (k, 1 + 2J) -> (.., k, 1 + 2J)
Var fourier_series(const Times& times, const Var& w, const Var& amplitude);

}  // namespace bochner::inline BOCHNER_PRECISION
