#pragma once
/// The factor of attention that depends on time alone, as one head has learned it: a function of
/// the lag, and the density whose Fourier transform that is.

#include <bochner/train/charts/chart.hpp>
#include <bochner/train/run/instruments/attention.hpp>

namespace bochner {

/// K(lag) / K(0) from lag 0 to `longest`; gates at their mean over the tokens.
Curve time_factor(const AttentionSample& sample, std::size_t head, double longest);
/// The density p(nu), the same at -nu, of which K(lag) / K(0) is the Fourier transform: Cauchy ones
/// at 0 and at each of the head's frequencies. Above 0, with the lags up to `longest` in sight.
Curve time_spectrum(const AttentionSample& sample, std::size_t head, double longest);
/// Relative change of the frequencies of all heads; 0 where there are none.
double time_drift(const AttentionSample& now, const AttentionSample& start);

}  // namespace bochner
