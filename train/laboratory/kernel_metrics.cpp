#include <algorithm>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/train/laboratory/feature_matrix.hpp>
#include <bochner/train/laboratory/kernel_metrics.hpp>
#include <bochner/train/storage/json.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t most_positions = 256;

/// Every row of weights counts alike, whatever its query's norm: errors and weights are divided by
/// the sum of the row. A sum S1 of F terms with sum of squares S2 has the variance F/(F-1) (S2 -
/// S1^2/F).
double attention_error(const FeatureMatrix& q, const FeatureMatrix& k) {
  const Tensor sums = products(q, k), squares = products(squared(q), squared(k));
  const std::size_t T = sums.shape()[0];
  const double F = double(q.values.shape()[1]);
  double error = 0, size = 0;
  for (std::size_t i = 0; i < T; ++i) {
    double row = 0, row_error = 0, row_size = 0;
    for (std::size_t j = 0; j <= i; ++j) {
      const double sum = double(sums.data()[i * T + j]);
      row += sum;
      row_size += sum * sum;
      row_error += std::max(0.0, double(squares.data()[i * T + j]) - sum * sum / F);
    }
    if (!(row > 0) || !std::isfinite(row_error) || !std::isfinite(row_size)) continue;
    error += row_error / (row * row) * F / std::max(1.0, F - 1);
    size += row_size / (row * row);
  }
  return size > 0 ? std::sqrt(error / size) : 0;
}

double participation_ratio(FeatureMatrix k) {
  const std::size_t T = k.values.shape()[0], F = k.values.shape()[1];
  for (std::size_t j = 0; j < T; ++j) {
    real* row = k.values.data() + j * F;
    const real length = std::sqrt(dot_row(row, row, F));
    for (std::size_t f = 0; f < F; ++f) row[f] = length > 0 ? row[f] / length : real(0);
  }
  const Tensor cosines = products(k, k);
  const double squares = sum_of_squares(cosines.data(), cosines.size());
  return squares > 0 ? double(T) * double(T) / squares : 0;
}

}  // namespace

void measure_features(FeatureMap& map, const Tensor& q, const Tensor& k, KernelMetrics& metrics) {
  const double H = double(q.shape()[2]);
  metrics.error = metrics.effective_features = 0;
  for (const HeadFeatures& head : head_features(map, q, k)) {
    metrics.error += attention_error(head.q, head.k) / H;
    metrics.effective_features += participation_ratio(head.k) / H;
  }
}

Tensor frequencies_of(SpectralDensity& density) {
  Tape tape;
  tape.recording = false;
  return density.draws(tape).value();
}

double spectral_drift(const Tensor& now, const Tensor& start) {
  const Tensor move = now - start;
  const double size = sum_of_squares(start.data(), start.size());
  return size > 0 ? std::sqrt(sum_of_squares(move.data(), move.size()) / size) : 0;
}

KernelMonitor::KernelMonitor(Module& model) : layers_(attention_layers(model)) {
  std::erase_if(layers_, [](const AttentionLayer& layer) { return !layer.features; });
  restart();
}

void KernelMonitor::restart() {
  start_.clear();
  for (const AttentionLayer& layer : layers_)
    start_.push_back(layer.density ? frequencies_of(*layer.density) : Tensor());
}

std::vector<NamedTensor> KernelMonitor::state() {
  std::vector<NamedTensor> tensors;
  for (std::size_t i = 0; i < layers_.size(); ++i)
    if (layers_[i].density) tensors.push_back({"start/" + layers_[i].name, &start_[i]});
  return tensors;
}

std::vector<KernelMetrics> KernelMonitor::measure(Task& task) {
  if (layers_.empty()) return {};
  const std::vector<AttentionSample> samples = attention_samples(task, layers_);
  std::vector<KernelMetrics> all;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (samples[i].q.dimension() != 4) continue;
    KernelMetrics metrics{.layer = layers_[i].name};
    measure_features(*layers_[i].features, first_positions(samples[i].q, most_positions),
                     first_positions(samples[i].k, most_positions), metrics);
    if (layers_[i].density)
      metrics.drift = spectral_drift(frequencies_of(*layers_[i].density), start_[i]);
    all.push_back(std::move(metrics));
  }
  return all;
}

Json json_of(const std::vector<KernelMetrics>& metrics) {
  Json layers = Json::array();
  for (const KernelMetrics& one : metrics)
    layers.push({{"layer", one.layer},
                 {"error", Json::rounded(one.error)},
                 {"effective_features", Json::rounded(one.effective_features)},
                 {"drift", Json::rounded(one.drift)}});
  return layers;
}

}  // namespace bochner::inline BOCHNER_PRECISION
