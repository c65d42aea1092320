#pragma once
/// Waves of continuous time. Phases are formed and reduced in double, see compute/phase.hpp.

#include <bochner/autodiff/tape.hpp>
#include <bochner/autodiff/times.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// y(t) = m^(-1/2) [cos w_1 t .. cos w_m t, sin w_1 t .. sin w_m t], of length 1; its inner
/// products y(t) . y(s) = mean_i cos w_i (t - s) see differences only. times (..), w (m), m >= 1 ->
/// (.., 2m)
Var fourier_time(const Times& times, const Var& w);

/// Truncated Fourier series of k base frequencies, term by term, with one row of amplitudes each:
/// [a_0, a_1 cos w t .. a_J cos J w t, a_(J+1) sin w t .. a_2J sin J w t]. times (..), w (k), a (k,
/// 1 + 2J) -> (.., k, 1 + 2J)
Var fourier_series(const Times& times, const Var& w, const Var& amplitude);

}  // namespace bochner::inline BOCHNER_PRECISION
