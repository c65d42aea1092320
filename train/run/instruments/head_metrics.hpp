#pragma once
/// What a training run reports of single heads: how sharply they want to look and do look, how many
/// features they use, and what their errors are made of.

#include <bochner/layers/spectral/density.hpp>
#include <bochner/train/run/instruments/kernel_sample.hpp>

namespace bochner {

class Json;

struct AttentionLayer;
struct AttentionSample;

struct HeadMetrics {
  /// Of a query's weights, mean over queries, in nats: of exact softmax attention by the same
  /// queries and keys, and of the estimated one, negative weights left out.
  double entropy = 0, estimated_entropy = 0;
  /// See participation_ratio() and numerical_rank(), of the keys' features.
  double effective_features = 0, rank = 0;
  /// Root mean square of the estimated less the exact weights, relative to the exact ones', in two
  /// parts: what the spread of an estimate's terms over the features explains, as if those were
  /// independent, and the rest, which more features would not take away.
  double deviation = 0, bias = 0;
  double error = 0;  ///< see KernelMetrics
};

/// Of each head on the first `positions` of a sample; empty for exact attention.
std::vector<HeadMetrics> head_metrics(const AttentionLayer& layer, const AttentionSample& sample,
                                      std::size_t positions);

/// -sum p ln p of each row's positive weights, of sum 1, mean over the rows. (T, S) -> nats
double mean_entropy(const Tensor& weights);
/// (sum of eigenvalues)^2 / sum of their squares, of the rows' directions: 1 when all point one
/// way, at most F, 0 when all vanish. (T, F)
double participation_ratio(const FeatureMatrix& rows);
/// So many rows span the directions of all but for 1 % (root mean square), each chosen as the one
/// that is farthest from the span of those before it. (T, F) -> 0 .. min(T, F)
std::size_t numerical_rank(const FeatureMatrix& rows);

/// How far the spectra of two heads are from each other, median over all pairs: root mean square
/// distance of the frequencies that equal noise becomes in both, relative to their root mean square
/// size. 0 for a single head.
double head_distance(SpectralDensity& density);

/// The means over heads by name, and "heads" with the numbers of each.
Json json_of(const std::vector<HeadMetrics>& heads);

}  // namespace bochner
