#pragma once
/// Curves of a spectral density: p(omega) and the kernel k(delta) that belongs to it.

#include <bochner/layers/spectral/density.hpp>
#include <bochner/train/charts/chart.hpp>

namespace bochner {

/// Frequencies in use at evaluation. -> (H, m, d)
Tensor frequencies_of(SpectralDensity& density);
/// |now - start| / |start| in the Frobenius norm.
double spectral_drift(const Tensor& now, const Tensor& start);

/// So many places from `low` to `high`, evenly spaced.
std::vector<double> places(double low, double high, std::size_t points);

/// Density of the coordinates of a head's frequencies between `low` and `high`, smoothed
/// by a Gaussian of Silverman's width. frequencies (H, m, d)
Curve spectrum_curve(const Tensor& frequencies, std::size_t head, double low, double high);
/// k(delta) along a coordinate axis, mean over the axes: closed form if the density has one, else
/// the mean over its draws. delta goes from 0 to `reach`.
Curve kernel_curve(SpectralDensity& density, const Tensor& frequencies, std::size_t head,
                   double reach);

/// The mean of cos(omega delta) over the coordinates of a head's draws, which estimates it.
Curve kernel_of_draws(const Tensor& frequencies, std::size_t head, double reach);

/// Where nearly all coordinates of the frequencies lie: symmetric, 99.5 % on each side.
double spectral_reach(const Tensor& frequencies);
/// Root mean square of the frequencies' coordinates.
double bandwidth(const Tensor& frequencies);

/// A density before its training and now, on the same axes.
struct TrainedSpectrum {
  Tensor first, last;  ///< frequencies
  double reach, far;   ///< ends of the axes of the spectrum and of the kernel
};
TrainedSpectrum trained_spectrum(SpectralDensity& start, SpectralDensity& now);

}  // namespace bochner
