#pragma once
/// The attention layers of a model: what goes through them, their weights on a few positions, and
/// what a training run reports of their kernels.

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
/// In the order of the model's parts.
std::vector<AttentionLayer> attention_layers(Module& model);

/// What one layer compares in an example.
struct AttentionSample {
  Tensor q, k;           ///< (B, T, H, d)
  Tensor rate = {};      ///< of the time kernel: (H), (B, T, H), or () without one
  Tensor rotation = {};  ///< of the time kernel: its terms (H, n, 2), or () without one
  Tensor modulation =
      {};  ///< its features of the tokens: (B, T, H, S), (1, T, H, S), or () without one
  bool causal = true;
  std::size_t window = 0;  ///< lags below it are weighed exactly, see MixerSpec; 0 without one
};
/// Queries and keys of each layer for the first specimen. Throws std::invalid_argument without one.
std::vector<AttentionSample> attention_samples(const Specimens& specimens,
                                               const std::vector<AttentionLayer>& layers);

/// Weights of one head: row i sums to 1 over the keys that query i sees. (T, T)
struct AttentionMaps {
  Tensor exact;      ///< softmax of the same queries and keys, times the time kernel
  Tensor estimated;  ///< of the feature map, exact in a window; empty for exact attention
};

/// The first `positions` positions of the first example, one entry for each head.
std::vector<AttentionMaps> attention_maps(const AttentionLayer& layer,
                                          const AttentionSample& sample, std::size_t positions);

/// Mean weight at each lag i - j >= 0 over the queries that can see it. (T, T) -> T numbers
std::vector<double> weight_by_lag(const Tensor& weights);

/// Half the sum over keys of |a - b|, mean over the rows: 0 for equal maps, 1 for maps that look
/// elsewhere. (T, S), (T, S)
double total_variation(const Tensor& a, const Tensor& b);

/// exp(q . k / sqrt(d)), each row relative to its largest. (T, d), (S, d) -> (T, S)
Tensor softmax_weights(const Tensor& q, const Tensor& k);

/// The time kernel of one head between the first positions of the first example; 0 where query i
/// cannot see. -> (positions, positions)
Tensor time_weights(const AttentionSample& sample, std::size_t head, std::size_t positions);

/// Each row divided by its sum. (T, S) -> (T, S)
Tensor normalized_rows(Tensor weights);

/// 0 in place of lags in the window, where features are not looked at; all without one. (T, T)
Tensor beyond_window(Tensor weights, std::size_t window);

/// What attention sums for each query and key of a head, before the time kernel.
struct HeadEstimate {
  /// phi(q) . phi(k), and exp(q . k / sqrt(d)) in a window, in a unit of each row. (T, T)
  Tensor sums;
  /// Sums of the squares of the features' products, 0 in a window: nothing varies there. (T, T)
  Tensor squares;
};
/// Of queries and keys (T, d) and their features; future keys have no weight beside a window.
HeadEstimate estimate_of(const HeadFeatures& features, const Tensor& q, const Tensor& k,
                         std::size_t window);

/// What a training run reports of one layer.
struct KernelMetrics {
  std::string layer;
  /// Expected relative error of an attention weight, from the spread of its terms over features as
  /// if those were independent.
  double error = 0;
  /// Participation ratio of the keys' feature vectors: 1 when all point one way, at most F,
  /// 0 when all vanish.
  double effective_features = 0;
  /// Root mean square move of the frequencies since the start, relative to their size there.
  double drift = 0;
  /// See redrawn_errors(), mean over the heads; nothing where it was not measured.
  std::optional<double> redrawn_error = {};
  /// See head_distance(); nothing without a density.
  std::optional<double> head_distance = {};
  std::vector<HeadMetrics> heads = {};
  /// See gradient_to_noise(); nothing where it was not measured.
  std::optional<double> gradient_to_noise = {};
};

/// Watches the feature maps of a model; the frequencies at its construction are the start.
class KernelMonitor {
 public:
  /// Maps are drawn anew by these base draws for KernelMetrics::redrawn_error, never for "".
  explicit KernelMonitor(Module& model, std::string draws = "");
  /// The frequencies are the start from now on.
  void restart();
  /// Where it started: "start/NAME" of each layer with a density, to be kept where the model's
  /// construction does not say it.
  std::vector<NamedTensor> state();
  /// The layers that have a feature map, on the first validation example. Nothing without such
  /// layers.
  std::vector<KernelMetrics> measure(Task& task);

 private:
  std::vector<AttentionLayer> layers_;
  std::string draws_;
  std::vector<Tensor> start_;  // frequencies (H, m, d), empty without a density
};

/// A layer with a feature map on the first `positions` of a sample: error, effective features, and
/// the numbers of its heads.
KernelMetrics measure_features(const AttentionLayer& layer, const AttentionSample& sample,
                               std::size_t positions);

/// `[{"layer":"blocks.0.mixer","error":...},...]` of all layers.
Json json_of(const std::vector<KernelMetrics>& metrics);

}  // namespace bochner
