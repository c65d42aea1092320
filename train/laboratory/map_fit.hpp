#pragma once
/// A feature map fitted to the kernel between sampled queries and keys by gradient descent.

#include <bochner/train/laboratory/kernel_sample.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct MapFitOptions {
  std::uint64_t steps = 300;
  double learning_rate = 0.01;  ///< of Adam, falling to 0 as half a cosine
  bool density = false;         ///< fit the frequencies too, not only what the map has of its own
};

/// Error of the kernel between queries and keys: each row in units of its exact sum, the root of
/// the summed squares relative to the kernel's own. What attention sees before it divides.
struct MapFit {
  double before = 0, after = 0;              ///< on held-out rows
  double train_before = 0, train_after = 0;  ///< on the rows of the fit
  std::size_t parameters = 0;                ///< numbers that were fitted
};

/// The target is the kernel that the map estimates in closed form for N(0, I). Of a map without it
/// is exp(q . k / sqrt d), and of weighted PFF the kernel of PFF, exp(-|x - y|^2 / 2) with x = q /
/// d^(1/4), y = k / d^(1/4).
MapFit fit_map(FeatureMap& map, const SampleBlock& train, const SampleBlock& held_out,
               const MapFitOptions& options);

}  // namespace bochner::inline BOCHNER_PRECISION
