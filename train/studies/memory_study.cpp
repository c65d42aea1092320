#include <algorithm>
#include <bochner/train/run/instruments/attention.hpp>
#include <bochner/train/studies/memory_study.hpp>
#include <cmath>
#include <set>

namespace bochner {
namespace {

constexpr std::size_t most_attended = 1024;  // positions; attention maps are quadratic

/// Returns the first `T` tokens of sequence b. (B, n, ..) -> (1, min(n, T), ..)
template <class Array>
Array sequence_of(const Array& all, std::size_t b, std::size_t T) {
  if (all.dimension() < 2) return all;
  auto shape = all.shape();
  const std::size_t B = shape[0], n = shape[1];
  if (all.size() == 0) return all;
  const std::size_t item = all.size() / (B * n);
  shape[0] = 1, shape[1] = std::min(n, T);
  Array one(shape);
  std::copy_n(all.data() + std::min(b, B - 1) * n * item, one.size(), one.data());
  return one;
}

/// Returns the common input of sequence b. (T, D) or (B, T, D), or none -> (1, T, D)
Tensor each_of(const Var& each, std::size_t b, std::size_t T) {
  if (!each.exists()) return {};
  Tensor all = each.value();
  if (all.dimension() == 2) all.reshape(Shape{1, all.shape()[0], all.shape()[1]});
  return sequence_of(all, b, T);
}

/// Gatherer of every part of the stack with its input, one sequence per example.
struct Gatherer : StackObserver {
  struct Seen {
    Module* part;
    std::vector<ProbeWindow> windows;
  };
  std::vector<Seen> parts;
  std::set<Module*> now;  // parts that have gathered this example
  std::size_t example = 0, length = 0;

  void on_input(Module& part, const StackInput& what) override {
    if (!now.insert(&part).second) return;
    const std::size_t b = example % what.x.dim(0), T = length > 0 ? length : what.x.dim(1);
    const Layout& all = what.layout;
    Layout layout{{}, sequence_of(all.gaps, b, T), sequence_of(all.times, b, T)};
    if (!all.lengths.empty()) layout.lengths = {std::min(all.lengths[b], T)};
    if (all.first_values && all.first_values->v.exists())
      layout.first_values =
          std::make_shared<FirstValues>(sequence_of(all.first_values->v.value(), b, T));
    auto found = std::ranges::find(parts, &part, &Seen::part);
    if (found == parts.end()) found = parts.insert(found, {&part, {}});
    found->windows.push_back(
        {sequence_of(what.x.value(), b, T), std::move(layout), each_of(what.each, b, T)});
  }
};

void look_at(const Specimens& specimens, std::size_t windows, Gatherer& gatherer) {
  require(specimens.count > 0, "probe",
          "there is no validation data; data.validation, data.validation_examples or data.splits "
          "keep some");
  for (const std::uint64_t i : spread_over(windows, specimens.count)) {
    Tape tape({.recording = false});
    tape.observer = &gatherer;
    gatherer.now.clear();
    specimens.forward(tape, i);
    ++gatherer.example;
  }
}

std::string name_of(Module& model, const Module* part) {
  for (const NamedPart& named : parts_of(model))
    if (named.part == part) return named.name;
  return "model";
}

/// Returns the function of a part on sequences; names it too.
SequenceMap map_of(Module& module, PartMemory& memory) {
  if (auto* mixer = dynamic_cast<Mixer*>(&module)) {
    memory.part = "mixer";
    return [mixer](Tape& tape, const Var& u, const ProbeWindow& window) {
      return mixer->forward(tape, u, window.layout);
    };
  }
  if (auto* block = dynamic_cast<Block*>(&module)) {
    memory.part = "block";
    return [block](Tape& tape, const Var& u, const ProbeWindow& window) {
      return block->forward(tape, u, window.layout);
    };
  }
  memory.part = "model";
  return [&stack = dynamic_cast<BlockStack&>(module)](Tape& tape, const Var& u,
                                                      const ProbeWindow& window) {
    const bool has_each = window.each.dimension() > 0;
    return stack.forward(tape, u, window.layout, has_each ? tape.view(window.each) : Var());
  };
}

AttentionDecay attention_decay(const AttentionLayer& layer, const AttentionSample& sample,
                               std::size_t length) {
  AttentionDecay decay{layer.name, layer.features != nullptr, {}};
  const std::size_t most = length > 0 ? std::min(length, most_attended) : most_attended;
  for (const AttentionMaps& head :
       attention_maps(layer, sample, std::min(most, sample.q.shape()[1])))
    decay.heads.push_back(decay_of(decay.by_features ? head.estimated : head.exact));
  return decay;
}

}  // namespace

bool has_blocks(Module& model) {
  return std::ranges::any_of(parts_of(model), [](const NamedPart& named) {
    return dynamic_cast<Block*>(named.part) != nullptr;
  });
}

MemoryStudy study_memory(Module& model, const Specimens& specimens, const StackSpec& stack,
                         const MemoryOptions& options) {
  Gatherer gatherer;
  gatherer.length = options.length;
  look_at(specimens, options.windows, gatherer);
  require(!gatherer.parts.empty(), "probe", "this model has no blocks to probe");
  std::ranges::rotate(gatherer.parts, gatherer.parts.begin() + 1);  // the stack is entered first
  MemoryStudy study{options, gatherer.parts.front().windows.size()};
  for (const ProbeWindow& window : gatherer.parts.front().windows)
    study.length = std::max(study.length, window.u.shape()[1]);
  std::size_t block = 0;
  for (const auto& [part, windows] : gatherer.parts) {
    PartMemory memory{name_of(model, part)};
    const SequenceMap map = map_of(*part, memory);
    memory.influence = probe(map, windows, options.probe);
    if (memory.part == "mixer") {
      memory.mixer = block_spec(stack, block++).mixer.kind;
      if (!options.table_only) memory.impulse = impulse_response(map, windows, options.probe);
    }
    study.parts.push_back(std::move(memory));
  }
  if (options.table_only) return study;
  const auto layers = attention_layers(model);
  const auto samples = attention_samples(specimens, layers);
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (samples[i].q.dimension() == 4)
      study.attention.push_back(attention_decay(layers[i], samples[i], options.length));
  return study;
}

HeadDecay decay_of(const Tensor& weights) {
  const std::size_t T = weights.shape()[0];
  HeadDecay decay{weight_by_lag(weights), std::vector<double>(T)};
  std::vector<std::size_t> counts(T);
  for (std::size_t i = 0; i < T; ++i) {
    const double itself = double(weights(i, i));
    for (std::size_t j = 0; j <= i; ++j) {
      const double weight = double(weights(i, j));
      if (!(weight > 0) || !(itself > 0)) continue;
      decay.logit[i - j] += std::log(weight / itself);
      ++counts[i - j];
    }
  }
  for (std::size_t n = 0; n < T; ++n)
    decay.logit[n] = counts[n] > 0 ? decay.logit[n] / double(counts[n]) : std::nan("");
  return decay;
}

std::vector<std::size_t> lag_bins(std::size_t lags) {
  std::vector<std::size_t> bins;
  for (std::size_t n = 0; n < lags; n += std::max<std::size_t>(1, n / 8)) bins.push_back(n);
  bins.push_back(lags);
  return bins;
}

std::vector<double> binned(const std::vector<double>& values,
                           const std::vector<std::size_t>& bins) {
  std::vector<double> means;
  for (std::size_t i = 0; i + 1 < bins.size(); ++i) {
    double sum = 0;
    for (std::size_t n = bins[i]; n < bins[i + 1]; ++n) sum += values[n];
    means.push_back(sum / double(bins[i + 1] - bins[i]));
  }
  return means;
}

}  // namespace bochner
