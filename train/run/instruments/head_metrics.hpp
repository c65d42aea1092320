#pragma once
/// Metrics of single heads: entropies, effective features, and the parts of their errors.

#include <bochner/layers/spectral/density.hpp>
#include <bochner/train/run/instruments/kernel_sample.hpp>

namespace bochner {

class Json;

struct AttentionLayer;
struct AttentionSample;

struct HeadMetrics {
  /// Entropy of a query's weights, mean over queries, in nats: by exact softmax attention of the
  /// same queries and keys, and by the estimate without its negative weights.
  double entropy = 0, estimated_entropy = 0;
  /// See participation_ratio() and numerical_rank() of the keys' features.
  double effective_features = 0, rank = 0;
  /// Root mean square of the estimated less the exact weights, relative to the exact ones, in two
  /// parts: the spread of an estimate's terms over features, assumed independent, and the rest,
  /// which more features would not reduce.
  double deviation = 0, bias = 0;
  double error = 0;  ///< see KernelMetrics
};

/// Measures each head on the first `positions` of a sample; empty for exact attention.
std::vector<HeadMetrics> head_metrics(const AttentionLayer& layer, const AttentionSample& sample,
                                      std::size_t positions);

/// Returns -sum p ln p of the normalized positive weights, mean over rows. (T, S) -> nats
double mean_entropy(const Tensor& weights);
/// Returns (sum of eigenvalues)^2 / sum of their squares for the rows' directions: 1 if all are
/// parallel, at most F, 0 if all vanish. (T, F)
double participation_ratio(const FeatureMatrix& rows);
/// Returns how many rows span 99 % of the directions of all (root mean square), each chosen as the
/// farthest from the span of those before it. (T, F) -> 0 .. min(T, F)
std::size_t numerical_rank(const FeatureMatrix& rows);

/// Returns the distance between the spectra of two heads, median over all pairs: root mean square
/// difference of the frequencies of equal noise, relative to their size. 0 for a single head.
double head_distance(SpectralDensity& density);

Json json_of(const std::vector<HeadMetrics>& heads);

}  // namespace bochner
