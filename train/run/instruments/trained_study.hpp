#pragma once
/// Error of a trained model's attention weights on its own queries and keys, by one set of draws
/// against the exact kernel of the learned density, and the draws needed for a wanted error.

#include <bochner/train/run/instruments/attention.hpp>
#include <bochner/train/run/instruments/statistics.hpp>

namespace bochner {

/// Errors of one head: root mean squares of attention weights relative to those of the exact
/// kernel, whose rows count by the squares of their weights; for signed maps, of kernels in units
/// of the sum of their row. Sets of draws are independent of each other; independence of draws,
/// features or their products within a set is not assumed.
struct TrainedHead {
  double own = 0;         ///< of the run's draws
  double predicted = 0;   ///< of a fresh set, estimated from half of the sets
  double measured = 0;    ///< in the other half
  double linearised = 0;  ///< by the delta method, with exact row sums
  double bias = 0;        ///< of the mean weights over the sets, for positive maps
  double effective_features = 0;
  Resampled needed = {};  ///< m for the wanted error at rate m^(-1/2), 95 % over the sets
  std::optional<double> effective_draws = {};  ///< of importance sampling
};

struct TrainedLayer {
  std::string name;
  std::size_t m = 0, features = 0;
  std::vector<TrainedHead> heads;
  double predicted() const;  ///< root mean squares over the heads
  double measured() const;
  double own() const;
};

struct TrainedOptions {
  std::string draws = "orthogonal";  ///< base draws of the run
  std::size_t sets = 64;             ///< fresh sets, even; the exact kernel is their mean
  std::size_t positions = 128;
  double wanted = 0.1;  ///< error
};

/// Studies a layer whose map draws frequencies or coefficients; returns nothing for other layers,
/// whose kernel is exactly that of their features. Restores the map.
std::optional<TrainedLayer> study_trained(const AttentionLayer& layer,
                                          const AttentionSample& sample,
                                          const TrainedOptions& options);

/// Returns the error of an attention weight of each head, relative to the weights: the deviation of
/// its kernel between fresh sets of all draws, before the time kernel and in units of its row's
/// sum. KernelMetrics::error estimates it from one set as if products of features were independent,
/// which those of orthogonal or quasi-random frequencies, or of a sine and its cosine, are not.
/// Empty for maps without draws, and for fixed weights, which would need a refit.
std::vector<double> redrawn_errors(const AttentionLayer& layer, const AttentionSample& sample,
                                   const TrainedOptions& options);

/// Replaces all draws of a map by those of a seed; returns false if it has none.
bool redraw(FeatureMap& map, const std::string& draws, std::size_t d, std::uint64_t seed);

std::string trained_text(const TrainedLayer& layer, double wanted);
std::string trained_json(const TrainedLayer& layer, double wanted);

}  // namespace bochner
