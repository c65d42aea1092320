#pragma once
/// Curves of a spectral density p(omega) and of its kernel k(delta).

#include <bochner/layers/spectral/density.hpp>
#include <bochner/train/charts/chart.hpp>

namespace bochner {

/// Returns the frequencies used at evaluation. -> (H, m, d)
Tensor frequencies_of(SpectralDensity& density);
double spectral_drift(const Tensor& now, const Tensor& start);

/// Returns `points` places from `low` to `high`, evenly spaced.
std::vector<double> places(double low, double high, std::size_t points);

/// Estimates the density of the coordinates of a head's frequencies between `low` and `high`,
/// smoothed by a Gaussian of Silverman's width. frequencies (H, m, d)
Curve spectrum_curve(const Tensor& frequencies, std::size_t head, double low, double high);
/// Returns k(delta) along a coordinate axis, mean over the axes, for delta from 0 to `reach`: in
/// closed form if the density has one, else the mean over its draws.
Curve kernel_curve(SpectralDensity& density, const Tensor& frequencies, std::size_t head,
                   double reach);

/// Estimates the kernel by the mean of cos(omega delta) over the coordinates of a head's draws.
Curve kernel_of_draws(const Tensor& frequencies, std::size_t head, double reach);

/// Returns the symmetric bound of nearly all frequency coordinates, 99.5 % on each side.
double spectral_reach(const Tensor& frequencies);
double bandwidth(const Tensor& frequencies);

/// Density before its training and now, on the same axes.
struct TrainedSpectrum {
  Tensor first, last;  ///< frequencies
  double reach, far;   ///< ends of the axes of the spectrum and of the kernel
};
TrainedSpectrum trained_spectrum(SpectralDensity& start, SpectralDensity& now);

}  // namespace bochner
