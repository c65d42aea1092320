#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/train/run/instruments/attention.hpp>
#include <bochner/train/run/instruments/density_curves.hpp>
#include <bochner/train/run/instruments/kernel_sample.hpp>
#include <bochner/train/run/instruments/trained_study.hpp>
#include <bochner/train/storage/json.hpp>
#include <map>

namespace bochner {
namespace {

constexpr std::size_t most_positions = 256;  // measured
constexpr std::size_t redrawn_sets = 8;

/// Weighs keys in the window exactly, rows in units of their largest weight, in logarithms.
void weigh_window(HeadEstimate& estimate, double log_unit, const Tensor& q, const Tensor& k,
                  std::size_t window) {
  const Tensor dots = products({q}, {k});
  const std::size_t T = q.shape()[0];
  const double scale = 1 / std::sqrt(double(q.shape()[1]));
  for (std::size_t i = 0; i < T; ++i) {
    real *sum = estimate.sums.data() + i * T, *square = estimate.squares.data() + i * T;
    const real* dot = dots.data() + i * T;
    const std::size_t first = i + 1 - std::min(i + 1, window);  // key with an exact weight
    double top = scale * double(max_row(dot + first, i + 1 - first));
    if (first > 0 && max_row(sum, first) > 0)
      top = std::max(top, log_unit + std::log(double(max_row(sum, first))));
    const double unit = std::exp(log_unit - top);
    for (std::size_t j = 0; j < first; ++j) {
      sum[j] = real(unit * double(sum[j]));
      square[j] = real(unit * unit * double(square[j]));
    }
    for (std::size_t j = first; j <= i; ++j) sum[j] = real(std::exp(scale * double(dot[j]) - top));
    std::fill(sum + i + 1, sum + T, real(0));
    std::fill(square + first, square + T, real(0));
  }
}

struct SampleCollector : AttentionObserver {
  std::map<const Mixer*, AttentionSample> samples;
  void attended(const Mixer& mixer, const AttentionInputs& what) override {
    const auto value = [](const Var& x) { return x.exists() ? x.value() : Tensor(); };
    samples[&mixer] = {value(what.q),        value(what.k),          value(what.rate),
                       value(what.rotation), value(what.modulation), what.causal,
                       what.window};
  }
};

}  // namespace

std::vector<AttentionLayer> attention_layers(Module& model) {
  std::vector<AttentionLayer> layers;
  for (const auto& [name, part] : parts_of(model)) {
    if (const auto* mixer = dynamic_cast<const Mixer*>(part)) {
      layers.push_back({name, mixer});
    } else if (!layers.empty() && name.starts_with(layers.back().name + ".") &&
               !name.starts_with(layers.back().name + ".time")) {  // not of the time kernel
      AttentionLayer& layer = layers.back();
      if (!layer.features) layer.features = dynamic_cast<FeatureMap*>(part);
      if (!layer.density) layer.density = dynamic_cast<SpectralDensity*>(part);
    }
  }
  return layers;
}

std::vector<AttentionSample> attention_samples(const Specimens& specimens,
                                               const std::vector<AttentionLayer>& layers) {
  SampleCollector collector;
  Tape tape({.recording = false});
  tape.observer = &collector;
  require(specimens.count > 0, "attention", "there is no validation example to measure");
  specimens.forward(tape, 0);
  std::vector<AttentionSample> samples;
  for (const AttentionLayer& layer : layers)
    samples.push_back(std::move(collector.samples[layer.mixer]));
  return samples;
}

Tensor softmax_weights(const Tensor& q, const Tensor& k) {
  Tensor weights = products({q}, {k});
  const std::size_t T = q.shape()[0], S = k.shape()[0];
  const real scale = 1 / std::sqrt(real(q.shape()[1]));
  for (std::size_t i = 0; i < T; ++i) {
    real* row = weights.data() + i * S;
    const real top = max_row(row, S);
    for (std::size_t j = 0; j < S; ++j) row[j] = std::exp(scale * (row[j] - top));
  }
  return weights;
}

Tensor time_weights(const AttentionSample& sample, std::size_t head, std::size_t positions) {
  const std::size_t H = sample.q.shape()[2];
  const auto rate = [&](std::size_t t) {
    if (sample.rate.dimension() == 0) return 0.0;
    return double(sample.rate.data()[sample.rate.dimension() == 1 ? head : t * H + head]);
  };
  const auto turn = [&](std::size_t i, std::size_t j) {
    if (sample.modulation.dimension() == 0) return real(1);
    const std::size_t phases = sample.modulation.shape()[3];
    const real* modulation = sample.modulation.data() + head * phases;
    return dot_row(modulation + i * H * phases, modulation + j * H * phases, phases);
  };
  Tensor weights = zeros({positions, positions});
  for (std::size_t i = 0; i < positions; ++i) {
    double lost = 0;
    for (std::size_t j = i + 1; j-- > 0;) {
      weights(i, j) = real(std::exp(-lost)) * turn(i, j);
      if (!sample.causal) weights(j, i) = weights(i, j);
      lost += rate(j);
    }
  }
  return weights;
}

Tensor normalized_rows(Tensor weights) {
  const std::size_t T = weights.shape()[0], S = weights.shape()[1];
  for (std::size_t i = 0; i < T; ++i) {
    real* row = weights.data() + i * S;
    const real sum = sum_row(row, S);
    if (sum == 0) continue;
    for (std::size_t j = 0; j < S; ++j) row[j] /= sum;
  }
  return weights;
}

Tensor beyond_window(Tensor weights, std::size_t window) {
  const std::size_t T = weights.shape()[0];
  for (std::size_t i = 0; i < T; ++i)
    for (std::size_t j = i + 1 - std::min(i + 1, window); j <= i; ++j) weights(i, j) = 0;
  return weights;
}

HeadEstimate estimate_of(const HeadFeatures& features, const Tensor& q, const Tensor& k,
                         std::size_t window) {
  HeadEstimate estimate{products(features.q, features.k),
                        products(squared(features.q), squared(features.k))};
  if (window > 0) weigh_window(estimate, features.q.log_unit + features.k.log_unit, q, k, window);
  return estimate;
}

std::vector<AttentionMaps> attention_maps(const AttentionLayer& layer,
                                          const AttentionSample& sample, std::size_t positions) {
  const Tensor q = first_positions(sample.q, positions), k = first_positions(sample.k, positions);
  std::vector<HeadFeatures> features;
  if (layer.features) features = head_features(*layer.features, q, k);
  std::vector<AttentionMaps> heads(q.shape()[2]);
  for (std::size_t h = 0; h < heads.size(); ++h) {
    const Tensor rows = head_rows(q, h), keys = head_rows(k, h);
    Tensor factors = time_weights(sample, h, q.shape()[1]);
    // Exact attention with a window sees only its window.
    if (!layer.features && sample.window > 0) factors -= beyond_window(factors, sample.window);
    heads[h].exact = normalized_rows(softmax_weights(rows, keys) * factors);
    if (layer.features)
      heads[h].estimated =
          normalized_rows(estimate_of(features[h], rows, keys, sample.window).sums * factors);
  }
  return heads;
}

std::vector<double> weight_by_lag(const Tensor& weights) {
  const std::size_t T = weights.shape()[0];
  std::vector<double> mean(T);
  for (std::size_t i = 0; i < T; ++i)
    for (std::size_t j = 0; j <= i; ++j)
      mean[i - j] += double(weights.data()[i * T + j]) / double(T - (i - j));
  return mean;
}

double total_variation(const Tensor& a, const Tensor& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::fabs(double(a.data()[i] - b.data()[i]));
  return a.size() == 0 ? 0 : sum / 2 / double(a.shape()[0]);
}

KernelMetrics measure_features(const AttentionLayer& layer, const AttentionSample& sample,
                               std::size_t positions) {
  KernelMetrics metrics{.layer = layer.name};
  metrics.heads = head_metrics(layer, sample, positions);
  const double H = double(metrics.heads.size());
  for (const HeadMetrics& head : metrics.heads) {
    metrics.error += head.error / H;
    metrics.effective_features += head.effective_features / H;
  }
  return metrics;
}

KernelMonitor::KernelMonitor(Module& model, std::string draws)
    : layers_(attention_layers(model)), draws_(std::move(draws)) {
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
  const std::vector<AttentionSample> samples =
      attention_samples(validation_specimens(task), layers_);
  std::vector<KernelMetrics> all;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (samples[i].q.dimension() != 4) continue;
    KernelMetrics metrics = measure_features(layers_[i], samples[i], most_positions);
    if (!draws_.empty()) {
      const std::vector<double> errors =
          redrawn_errors(layers_[i], samples[i],
                         {.draws = draws_, .sets = redrawn_sets, .positions = most_positions});
      if (!errors.empty()) metrics.redrawn_error = mean_of(errors);
    }
    if (layers_[i].density) {
      metrics.drift = spectral_drift(frequencies_of(*layers_[i].density), start_[i]);
      metrics.head_distance = head_distance(*layers_[i].density);
    }
    all.push_back(std::move(metrics));
  }
  return all;
}

Json json_of(const std::vector<KernelMetrics>& metrics) {
  Json layers = Json::array();
  for (const KernelMetrics& one : metrics) {
    Json layer = {{"layer", one.layer},
                  {"error", Json::rounded(one.error)},
                  {"effective_features", Json::rounded(one.effective_features)},
                  {"drift", Json::rounded(one.drift)}};
    if (one.redrawn_error) layer.set("redrawn_error", Json::rounded(*one.redrawn_error));
    if (one.head_distance) layer.set("head_distance", Json::rounded(*one.head_distance));
    if (one.gradient_to_noise)
      layer.set("gradient_to_noise", Json::rounded(*one.gradient_to_noise));
    if (!one.heads.empty()) layer.set(json_of(one.heads));
    layers.push(std::move(layer));
  }
  return layers;
}

}  // namespace bochner
