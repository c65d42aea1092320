#pragma once
/// Sines and cosines of learned frequencies at given places: what Fourier encodings of space and
/// time are made of. Coordinates are double, and so are phases until whole turns are taken off, see
/// compute/phase.hpp.

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
/// All nodes of a grid, the last axis running fastest.
Places nodes_of(const GridAxes& axes);

/// y = [sin(w_1 . x), .., sin(w_m . x), cos(w_1 . x), .., cos(w_m . x)] for every place x. w (m,
/// d), in radians per unit of the coordinates -> (N, 2m)
Var harmonics(const Places& places, const Var& w);
/// The same at all nodes of a grid, from sines and cosines of single coordinates that the addition
/// theorem joins: n_1 + .. + n_d of them for each frequency. w (m, d) -> (n_1 .. n_d, 2m)
Var grid_harmonics(const GridAxes& axes, const Var& w);

/// y(t) = m^(-1/2) [cos w_1 t .. cos w_m t, sin w_1 t .. sin w_m t], of length 1; its inner
/// products y(t) . y(s) = mean_i cos w_i (t - s) see differences only. times (..), w (m), m >= 1 ->
/// (.., 2m)
Var fourier_time(const Times& times, const Var& w);

/// Truncated Fourier series of k base frequencies, term by term, with one row of amplitudes each:
/// [a_0, a_1 cos w t .. a_J cos J w t, a_(J+1) sin w t .. a_2J sin J w t]. times (..), w (k), a (k,
/// 1 + 2J) -> (.., k, 1 + 2J)
Var fourier_series(const Times& times, const Var& w, const Var& amplitude);

}  // namespace bochner::inline BOCHNER_PRECISION
