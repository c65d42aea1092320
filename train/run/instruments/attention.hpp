#pragma once
/// Attention layers of a model: their inputs, their weights on a few positions, and the metrics of
/// their kernels that training reports.

#include <bochner/layers/features/feature_map.hpp>
#include <bochner/layers/mixers/mixer.hpp>
#include <bochner/layers/spectral/density.hpp>
#include <bochner/train/run/instruments/head_metrics.hpp>
#include <bochner/train/tasks/specimens.hpp>
#include <optional>

namespace bochner {

class Json;

struct AttentionLayer {
  std::string name = {};  ///< "blocks.0.mixer"
  const Mixer* mixer = nullptr;
  FeatureMap* features = nullptr;      ///< none for exact attention
  SpectralDensity* density = nullptr;  ///< none for maps without one
};
std::vector<AttentionLayer> attention_layers(Module& model);

/// Queries and keys of one layer in an example.
struct AttentionSample {
  Tensor q, k;           ///< (B, T, H, d)
  Tensor rate = {};      ///< of the time kernel: (H), (B, T, H), () without it
  Tensor rotation = {};  ///< terms of the time kernel (H, n, 2), () without it
  Tensor modulation =
      {};  ///< features of the time kernel: (B, T, H, S), (1, T, H, S), () without it
  bool causal = true;
  std::size_t window = 0;  ///< smaller lags have exact weights, see MixerSpec; 0: none
};
/// Returns the inputs of each layer. Throws std::invalid_argument without specimens.
std::vector<AttentionSample> attention_samples(const Specimens& specimens,
                                               const std::vector<AttentionLayer>& layers);

/// Attention weights of one head: row i sums to 1 over the keys that query i sees. (T, T)
struct AttentionMaps {
  Tensor exact;      ///< softmax of the same queries and keys, times the time kernel
  Tensor estimated;  ///< by the feature map, exact in a window; empty for exact attention
};

/// Returns the maps of each head on the first `positions` of the first example.
std::vector<AttentionMaps> attention_maps(const AttentionLayer& layer,
                                          const AttentionSample& sample, std::size_t positions);

/// Returns the mean weight at each lag i - j >= 0 over the queries that see it. (T, T) -> (T)
std::vector<double> weight_by_lag(const Tensor& weights);

/// Returns half the sum over keys of |a - b|, mean over rows: 0 equal, 1 disjoint. (T, S) each
double total_variation(const Tensor& a, const Tensor& b);

/// Returns exp(q . k / sqrt(d)), each row relative to its largest. (T, d), (S, d) -> (T, S)
Tensor softmax_weights(const Tensor& q, const Tensor& k);

/// Returns the time kernel of one head on the first positions of the first example; 0 for keys that
/// query i cannot see. -> (positions, positions)
Tensor time_weights(const AttentionSample& sample, std::size_t head, std::size_t positions);

Tensor normalized_rows(Tensor weights);

/// Sets weights in the window, where features are not used, to 0. (T, T)
Tensor beyond_window(Tensor weights, std::size_t window);

/// Kernel estimates that attention sums for each query and key of a head, before the time kernel.
struct HeadEstimate {
  /// phi(q) . phi(k), and exp(q . k / sqrt(d)) in a window, in one unit per row. (T, T)
  Tensor sums;
  /// Sums of the squares of the features' products; 0 in a window, where nothing varies. (T, T)
  Tensor squares;
};
/// Estimates the kernel of queries and keys (T, d); with a window future keys have no weight.
HeadEstimate estimate_of(const HeadFeatures& features, const Tensor& q, const Tensor& k,
                         std::size_t window);

/// Metrics of one layer that training reports.
struct KernelMetrics {
  std::string layer;
  /// Expected relative error of a weight from the spread of its terms, assumed independent.
  double error = 0;
  /// Participation ratio of the keys' features: 1 if all are parallel, at most F, 0 if all vanish.
  double effective_features = 0;
  /// Root mean square change of the frequencies since the start, relative to their size there.
  double drift = 0;
  /// See redrawn_errors(), mean over the heads; nothing if not measured.
  std::optional<double> redrawn_error = {};
  /// See head_distance(); nothing without a density.
  std::optional<double> head_distance = {};
  std::vector<HeadMetrics> heads = {};
  /// See gradient_to_noise(); nothing if not measured.
  std::optional<double> gradient_to_noise = {};
};

/// Monitor of a model's feature maps; the frequencies at its construction are the start.
class KernelMonitor {
 public:
  /// Redraws maps from these base draws for KernelMetrics::redrawn_error, never for "".
  explicit KernelMonitor(Module& model, std::string draws = "");
  /// Makes the present frequencies the start.
  void restart();
  /// Returns the start, "start/NAME" of each layer with a density, to be stored if the model's
  /// construction does not determine it.
  std::vector<NamedTensor> state();
  /// Measures all layers with a feature map on the first validation example.
  std::vector<KernelMetrics> measure(Task& task);

 private:
  std::vector<AttentionLayer> layers_;
  std::string draws_;
  std::vector<Tensor> start_;  // frequencies (H, m, d), empty without a density
};

/// Measures a layer with a feature map on the first `positions` of a sample: error, effective
/// features, and the numbers of its heads.
KernelMetrics measure_features(const AttentionLayer& layer, const AttentionSample& sample,
                               std::size_t positions);

/// Returns `[{"layer":"blocks.0.mixer","error":...},...]` of all layers.
Json json_of(const std::vector<KernelMetrics>& metrics);

}  // namespace bochner
