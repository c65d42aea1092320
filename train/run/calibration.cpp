#include <algorithm>
#include <bochner/layers/features/feature_map.hpp>
#include <bochner/layers/spectral/importance_proposal.hpp>
#include <bochner/layers/spectral/initial.hpp>
#include <bochner/train/run/calibration.hpp>
#include <bochner/train/run/instruments/attention.hpp>
#include <cmath>

namespace bochner {
namespace {

constexpr std::size_t calibration_tokens = 1024, batches_if_needed = 4;

struct CalibratedLayer {
  std::string name;
  const Mixer* mixer;
  FeatureMap* map;
  std::vector<SpectralDensity*> densities;
  std::vector<Proposal*> proposals;
};

std::vector<CalibratedLayer> calibrated_layers(
    Module& model, const std::function<bool(const std::string& layer)>& wanted) {
  std::vector<CalibratedLayer> layers;
  for (const AttentionLayer& layer : attention_layers(model))
    if (layer.features && (!wanted || wanted(layer.name)))
      layers.push_back({layer.name, layer.mixer, layer.features, {}, {}});
  for (const NamedPart& part : parts_of(model))
    for (CalibratedLayer& layer : layers) {
      if (!part.name.starts_with(layer.name + ".features.")) continue;
      if (auto* density = dynamic_cast<SpectralDensity*>(part.part))
        layer.densities.push_back(density);
      if (auto* proposal = dynamic_cast<Proposal*>(part.part)) layer.proposals.push_back(proposal);
    }
  return layers;
}

/// Returns the indices b T + t of the tokens of (B, T) that are not padding.
std::vector<std::size_t> real_tokens(const Shape& shape, const std::vector<std::size_t>& lengths) {
  std::vector<std::size_t> tokens;
  for (std::size_t b = 0; b < shape[0]; ++b)
    for (std::size_t t = 0; t < length_of(lengths, b, shape[1]); ++t)
      tokens.push_back(b * shape[1] + t);
  return tokens;
}

/// Samples tokens of (B, T, H, d); the choice is the same for every tensor and layer. -> (n, H, d)
Tensor sampled_tokens(const Tensor& x, const std::vector<std::size_t>& tokens, std::uint64_t seed) {
  const RandomFunction random{seed, Purpose::sampling, stream_of("calibration")};
  const std::size_t H = x.shape()[2], d = x.shape()[3];
  Tensor sample = uninitialized({calibration_tokens, H, d});
  for (std::size_t i = 0; i < calibration_tokens; ++i)
    std::copy_n(x.data() + tokens[random.integer(i, tokens.size())] * H * d, H * d,
                sample.data() + i * H * d);
  return sample;
}

/// Applies the median heuristic to the queries and keys of each head together, divided by d^(1/4)
/// as the kernel sees them. (n, H, d) each -> (H d)
std::vector<double> data_log_scale(const Tensor& q, const Tensor& k, std::uint64_t seed) {
  const std::size_t n = q.shape()[0], H = q.shape()[1], d = q.shape()[2];
  const real scale = real(std::pow(double(d), -0.25));
  std::vector<double> all;
  for (std::size_t h = 0; h < H; ++h) {
    Tensor rows = uninitialized({2 * n, d});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Tensor& x = i < n * d ? q : k;
      rows.data()[i] = scale * x.data()[(i / d % n * H + h) * d + i % d];
    }
    const RandomFunction random{seed, Purpose::sampling, stream_of("median distance") + h};
    std::ranges::copy(median_log_scale(rows, random), std::back_inserter(all));
  }
  return all;
}

struct Calibrator : AttentionObserver {
  Calibrator(const CalibrationSpec& wanted, std::vector<CalibratedLayer> all)
      : spec(wanted), layers(std::move(all)) {}

  void attended(const Mixer& mixer, const AttentionInputs& inputs) override {
    const auto layer = std::ranges::find(layers, &mixer, &CalibratedLayer::mixer);
    if (layer == layers.end()) return;
    const auto tokens = real_tokens(inputs.q.shape(), inputs.lengths);
    const Tensor q = sampled_tokens(inputs.q.value(), tokens, spec.seed);
    const Tensor k = sampled_tokens(inputs.k.value(), tokens, spec.seed);
    if (spec.densities) {
      const std::vector<double> log_scale = data_log_scale(q, k, spec.seed);
      for (SpectralDensity* density : layer->densities) density->init_log_scale(log_scale);
      for (Proposal* proposal : layer->proposals) proposal->init_log_scale(log_scale);
    }
    layer->map->calibrate(q, k);
  }

  const CalibrationSpec& spec;
  std::vector<CalibratedLayer> layers;
};

}  // namespace

CalibrationSpec calibration_spec(const Config& config) {
  return {config.integer("model.mixer.calibrate"), config.count("train.batch"),
          config.count("train.seed"), config.text("model.mixer.density.start") == "data",
          config.flag("train.overfit")};
}

void calibrate_model(Task& task, const CalibrationSpec& spec,
                     const std::function<bool(const std::string& layer)>& wanted) {
  Calibrator calibrator(spec, calibrated_layers(task.model(), wanted));
  const bool needed = spec.densities || std::ranges::any_of(calibrator.layers, [](const auto& one) {
                        return one.map->needs_calibration();
                      });
  const std::size_t asked = spec.batches >= 0 ? std::size_t(spec.batches)
                            : needed          ? batches_if_needed
                                              : 0;
  const std::size_t batches = spec.overfit ? std::min<std::size_t>(asked, 1) : asked;
  if (batches == 0 || calibrator.layers.empty()) return;
  Tape tape({.recording = false});
  tape.seed = spec.seed;
  tape.observer = &calibrator;
  task.loss(tape, task.data().training(0, batches * spec.examples));
}

}  // namespace bochner
