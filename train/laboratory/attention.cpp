#include <algorithm>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/train/laboratory/attention.hpp>
#include <bochner/train/laboratory/feature_matrix.hpp>
#include <cmath>
#include <map>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct PartCollector : Visitor {
  std::vector<NamedPart> parts;
  void on_parameter(const std::string&, Parameter&) override {}
  void on_buffer(const std::string&, Tensor&) override {}
  void on_module(const std::string& name, Module& part) override { parts.push_back({name, &part}); }
};

struct SampleCollector : AttentionObserver {
  std::map<const Mixer*, AttentionSample> samples;
  void attended(const Mixer& mixer, const Attended& what) override {
    const auto value = [](const Var& x) { return x.exists() ? x.value() : Tensor(); };
    samples[&mixer] = {value(what.q),        value(what.k),     value(what.rate),
                       value(what.rotation), value(what.turns), what.causal};
  }
};

}  // namespace

std::vector<NamedPart> parts_of(Module& model) {
  PartCollector collector;
  model.visit(collector);
  return std::move(collector.parts);
}

std::vector<AttentionLayer> attention_layers(Module& model) {
  std::vector<AttentionLayer> layers;
  for (const auto& [name, part] : parts_of(model)) {
    if (const auto* mixer = dynamic_cast<const Mixer*>(part)) {
      layers.push_back({name, mixer});
    } else if (!layers.empty() && name.starts_with(layers.back().name + ".") &&
               !name.starts_with(layers.back().name + ".time")) {  // of content
      AttentionLayer& layer = layers.back();
      if (!layer.features) layer.features = dynamic_cast<FeatureMap*>(part);
      if (!layer.density) layer.density = dynamic_cast<SpectralDensity*>(part);
    }
  }
  return layers;
}

std::vector<AttentionSample> attention_samples(Task& task,
                                               const std::vector<AttentionLayer>& layers) {
  SampleCollector collector;
  Tape tape;
  tape.recording = false;
  tape.observer = &collector;
  task.evaluate(tape, task.data().part(Split::validation, 0, 1));
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
    if (sample.turns.dimension() == 0) return real(1);
    const std::size_t phases = sample.turns.shape()[3];
    const real* turns = sample.turns.data() + head * phases;
    return dot_row(turns + i * H * phases, turns + j * H * phases, phases);
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

void normalize_rows(Tensor& weights) {
  const std::size_t T = weights.shape()[0], S = weights.shape()[1];
  for (std::size_t i = 0; i < T; ++i) {
    real* row = weights.data() + i * S;
    const real sum = sum_row(row, S);
    if (sum == 0) continue;
    for (std::size_t j = 0; j < S; ++j) row[j] /= sum;
  }
}

std::vector<AttentionMaps> attention_maps(const AttentionLayer& layer,
                                          const AttentionSample& sample, std::size_t positions) {
  const Tensor q = first_positions(sample.q, positions), k = first_positions(sample.k, positions);
  std::vector<HeadFeatures> features;
  if (layer.features) features = head_features(*layer.features, q, k);
  std::vector<AttentionMaps> heads(q.shape()[2]);
  for (std::size_t h = 0; h < heads.size(); ++h) {
    const Tensor factors = time_weights(sample, h, q.shape()[1]);
    const auto normalized = [&](Tensor weights) {
      weights *= factors;
      normalize_rows(weights);
      return weights;
    };
    heads[h].exact = normalized(softmax_weights(head_rows(q, h), head_rows(k, h)));
    if (layer.features) heads[h].estimated = normalized(products(features[h].q, features[h].k));
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

}  // namespace bochner::inline BOCHNER_PRECISION
