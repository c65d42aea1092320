#pragma once
/// The kernels of a trained model on its own queries and keys: how far attention weights by one set
/// of draws are from those by the exact kernel of the learned density, and how many draws it takes.

#include <bochner/train/run/instruments/attention.hpp>
#include <bochner/train/run/instruments/statistics.hpp>

namespace bochner {

/// Errors are root mean squares of attention weights relative to those of the exact kernel, whose
/// rows count by the squares of their weights; for signed maps of kernels, in units of the sum of
/// their row. Sets of draws are independent of each other, whatever the draws within one are: no
/// independence of draws, features or products of features is assumed.
struct TrainedHead {
  double own = 0;         ///< of the draws that the run has
  double predicted = 0;   ///< of a fresh set: from half of the sets
  double measured = 0;    ///< of the other half
  double linearised = 0;  ///< by the delta method: as if the sums of rows were exact
  double bias = 0;        ///< of the weights' mean over the sets, for positive maps
  double effective_features = 0;
  Resampled needed = {};  ///< m for the wanted error, by the rate m^(-1/2), 95 % over the sets
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
  std::size_t sets = 64;             ///< fresh ones, even; the exact kernel is their mean
  std::size_t positions = 128;
  double wanted = 0.1;  ///< error
};

/// Studies a layer with a map that draws frequencies or coefficients; nothing for others, whose
/// kernel is that of their features. The map is left as it was.
std::optional<TrainedLayer> study_trained(const AttentionLayer& layer,
                                          const AttentionSample& sample,
                                          const TrainedOptions& options);

/// Error of an attention weight of each head, relative to the weights: the deviation of its kernel
/// between fresh sets of all draws, before the time kernel and in units of the sum of its row.
/// KernelMetrics::error says the same from one set as if the products of its features were
/// independent, which those of orthogonal or quasi-random frequencies, or of a sine and its cosine,
/// are not. Empty for maps without draws, and for fixed weights, which would have to be fitted
/// anew.
std::vector<double> redrawn_errors(const AttentionLayer& layer, const AttentionSample& sample,
                                   const TrainedOptions& options);

/// Replaces all draws of a map by those of a seed; false if it has none.
bool redraw(FeatureMap& map, const std::string& draws, std::size_t d, std::uint64_t seed);

/// A table for the terminal, and one JSON object on one line.
std::string trained_text(const TrainedLayer& layer, double wanted);
std::string trained_json(const TrainedLayer& layer, double wanted);

}  // namespace bochner
