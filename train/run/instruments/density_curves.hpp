#pragma once
/// Curves of a spectral density p(omega) and of its kernel k(delta).

#include <bochner/layers/spectral/density.hpp>
#include <bochner/train/charts/chart.hpp>
#include <string>
#include <vector>

namespace bochner {

/// Returns the frequencies used at evaluation. -> (H, m, d)
Tensor frequencies_of(SpectralDensity& density);
double spectral_drift(const Tensor& now, const Tensor& start);

/// Returns `points` places from `low` to `high`, evenly spaced.
std::vector<double> places(double low, double high, std::size_t points);

/// Estimates the density of samples at `x` by a Gaussian kernel of Silverman's width, but of at
/// least `resolution`.
Curve smoothed_density(const std::vector<double>& samples, std::vector<double> x,
                       double resolution);
/// Density of any coordinate of a head's frequencies, as tables and charts show it.
struct Spectrum {
  bool closed_form = false;  ///< else the draws, smoothed
  Curve density = {};
  std::vector<double> draws = {};  ///< inside the range of the curve

  /// Returns "spectrum p(ω)" or "smoothed draws of ω".
  std::string title() const { return closed_form ? "spectrum p(ω)" : "smoothed draws of ω"; }
  /// Returns the key of JSON lines.
  std::string key() const { return closed_form ? "spectrum" : "smoothed_draws"; }
};
/// Returns the mean over the coordinates of their marginal densities, in closed form if there is
/// one, else the draws smoothed, from -reach to reach. frequencies (H, m, d)
Spectrum spectrum_of(SpectralDensity& density, const Tensor& frequencies, std::size_t head,
                     double reach);
/// Adds the curve to a chart, and its draws as ticks unless it is dashed.
void add_spectrum(Chart& chart, const std::string& name, const Spectrum& spectrum, Mark mark,
                  int colour);
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
