#pragma once
/// What a model has learned, as numbers: the curves of its report.

#include <bochner/train/charts/chart.hpp>
#include <bochner/train/run/instruments/attention.hpp>

namespace bochner {

/// Of a layer or an encoding, for one of its heads.
struct LearnedCurve {
  std::string part;   ///< "blocks.0.mixer"
  std::string curve;  ///< "spectrum", "kernel", "time_kernel", "time_spectrum", "time_encoding"
  std::size_t head = 0;
  bool at_start = false;
  Curve points;
};

/// Spectra p(omega) and kernels k(delta) of all layers with a density, time kernels K(lag) and
/// their spectra, kernels of encodings of time: at the start and now, in the same places.
std::vector<LearnedCurve> learned_curves(Module& start, Module& now,
                                         const std::vector<AttentionSample>& start_samples,
                                         const std::vector<AttentionSample>& samples);

/// `{"part":"blocks.0.mixer","curve":"kernel","head":0,"of":"now","x":[..],"y":[..]}`
Json json_of(const LearnedCurve& curve);

}  // namespace bochner
