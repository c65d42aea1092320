#pragma once
/// What a training run reports of its learned kernels.

#include <bochner/train/laboratory/attention.hpp>

namespace bochner {
class Json;
}

namespace bochner::inline BOCHNER_PRECISION {

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
};

/// Watches the feature maps of a model; the frequencies at its construction are the start.
class KernelMonitor {
 public:
  explicit KernelMonitor(Module& model);
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
  std::vector<Tensor> start_;  // frequencies (H, m, d), empty without a density
};

/// Frequencies in use at evaluation. -> (H, m, d)
Tensor frequencies_of(SpectralDensity& density);
/// |now - start| / |start| in the Frobenius norm.
double spectral_drift(const Tensor& now, const Tensor& start);

/// Error and effective features of one map on queries and keys (1, T, H, d): the mean over heads.
void measure_features(FeatureMap& map, const Tensor& q, const Tensor& k, KernelMetrics& metrics);

/// `[{"layer":"blocks.0.mixer","error":...},...]` of all layers.
Json json_of(const std::vector<KernelMetrics>& metrics);

}  // namespace bochner::inline BOCHNER_PRECISION
