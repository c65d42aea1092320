#pragma once
/// Learned curves of a model as numbers, for its report.

#include <bochner/train/charts/chart.hpp>
#include <bochner/train/run/instruments/attention.hpp>

namespace bochner {

/// Curve of one head of a layer or an encoding.
struct LearnedCurve {
  std::string part;   ///< "blocks.0.mixer"
  std::string curve;  ///< "spectrum", "kernel", "time_kernel", "time_spectrum", "time_encoding"
  std::size_t head = 0;
  bool at_start = false;
  Curve points;
};

/// Returns spectra p(omega) and kernels k(delta) of all layers with a density, time kernels K(lag)
/// and their spectra, and kernels of time encodings: at the start and now, at the same places.
std::vector<LearnedCurve> learned_curves(Module& start, Module& now,
                                         const std::vector<AttentionSample>& start_samples,
                                         const std::vector<AttentionSample>& samples);

/// Returns `{"part":"blocks.0.mixer","curve":"kernel","head":0,"of":"now","x":[..],"y":[..]}`.
Json json_of(const LearnedCurve& curve);

}  // namespace bochner
