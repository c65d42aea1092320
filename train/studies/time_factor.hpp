#pragma once
/// Time factor of a head's attention as a function of the lag, and its Fourier transform.

#include <bochner/train/charts/chart.hpp>
#include <bochner/train/run/instruments/attention.hpp>

namespace bochner {

/// Returns K(lag) / K(0) from lag 0 to `longest`; gates at their mean over the tokens.
Curve time_factor(const AttentionSample& sample, std::size_t head, double longest);
/// Returns the density p(nu), nu > 0, whose Fourier transform is K(lag) / K(0): Cauchy densities at
/// 0 and at the head's frequencies, at the resolution of lags up to `longest`.
Curve time_spectrum(const AttentionSample& sample, std::size_t head, double longest);
/// Returns the relative change of the frequencies of all heads; 0 if there are none.
double time_drift(const AttentionSample& now, const AttentionSample& start);

}  // namespace bochner
