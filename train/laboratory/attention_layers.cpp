#include <bochner/train/laboratory/attention_layers.hpp>
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
               !name.starts_with(layers.back().name + ".time.")) {
      AttentionLayer& layer = layers.back();
      if (!layer.features) layer.features = dynamic_cast<FeatureMap*>(part);
      if (!layer.density) layer.density = dynamic_cast<SpectralDensity*>(part);
    }
  }
  return layers;
}

std::vector<AttentionSample> attention_samples(Task& task,
                                               const std::vector<AttentionLayer>& layers,
                                               std::uint64_t index, std::size_t size) {
  SampleCollector collector;
  Tape tape;
  tape.recording = false;
  tape.observer = &collector;
  task.evaluate(tape, task.data().part(Split::validation, index, size));
  std::vector<AttentionSample> samples;
  for (const AttentionLayer& layer : layers)
    samples.push_back(std::move(collector.samples[layer.mixer]));
  return samples;
}

}  // namespace bochner::inline BOCHNER_PRECISION
