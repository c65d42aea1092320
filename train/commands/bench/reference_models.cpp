#include <fmt/format.h>

#include <bochner/layers/initialize.hpp>
#include <bochner/layers/models/language_model.hpp>
#include <bochner/layers/models/sequence_classifier.hpp>
#include <bochner/layers/spectral/base_draws.hpp>
#include <bochner/train/commands/bench/reference_models.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr ReferenceModel models[] = {
    {"tiny-performer", "linear", 32, 2, 16, 2, 2, 64, 128, 4},
    {"performer-lm", "linear", 128, 4, 64, 2, 4, 256, 1024, 8},
    {"performer-lm-16k", "linear", 64, 4, 32, 2, 4, 256, 16384, 1},
    {"softmax-lm", "softmax", 128, 4, 64, 2, 4, 256, 1024, 8},
    {"performer-cls", "linear", 128, 4, 64, 4, 4, 20, 2048, 8, 10},
    {"time-events", "softmax", 64, 4, 64, 2, 4, 1000, 128, 32, 0, true},
};

/// Frequencies that are parameters themselves, the same for all heads: what the PyTorch models
/// learn.
class FreeFrequencies : public SpectralDensity {
 public:
  explicit FreeFrequencies(const DensitySpec& spec)
      : SpectralDensity(spec),
        frequencies_(base_draws(spec.draws, 1, spec.m, spec.dim, 0,
                                RandomFunction{spec.seed, Purpose::spectral, 0})) {}
  Var sample(Tape& tape, const Var& noise) override {
    return broadcast_to(tape(frequencies_), noise.shape());
  }
  void visit(Visitor& visitor) override {
    visitor("frequencies", frequencies_);
    SpectralDensity::visit(visitor);
  }

 private:
  Parameter frequencies_;  // (1, m, d)
};

TrunkSpec trunk_of(const ReferenceModel& reference) {
  TrunkSpec spec;
  spec.vocabulary = reference.vocabulary;
  spec.length = reference.length;
  spec.blocks = reference.blocks;
  spec.block.width = reference.width;
  spec.block.expansion = reference.expansion;
  spec.block.mixer.kind = reference.mixer;
  spec.block.mixer.heads = reference.heads;
  spec.block.mixer.features.m = reference.m;
  spec.block.mixer.features.density.kind = "free frequencies of the bench";
  return spec;
}

template <class Model, class Spec>
ReferenceProblem problem_of(const Spec& spec, const Indices& tokens, const Indices& targets) {
  auto model = std::make_unique<Model>(spec);
  initialize(*model, 1);
  const auto loss = [&model = *model, tokens, targets](Tape& tape) {
    return model.loss(tape, tokens, targets);
  };
  return {std::move(model), loss, tokens.values.size()};
}

}  // namespace

std::span<const ReferenceModel> reference_models() { return models; }

Indices random_indices(const Shape& shape, std::size_t below, std::uint64_t stream) {
  Indices indices{shape, {}};
  const RandomFunction random{1, Purpose::test, stream};
  for (std::uint64_t i = 0; i < element_count(shape); ++i)
    indices.values.push_back(std::int32_t(random.integer(i, below)));
  return indices;
}

const ReferenceModel& reference_model(const std::string& name) {
  std::string known;
  for (const ReferenceModel& model : models) {
    if (name == model.name) return model;
    known += fmt::format("{}, ", model.name);
  }
  throw std::invalid_argument(
      fmt::format("bench step {}: no such model; there are: {}all", name, known));
}

ReferenceProblem make_problem(const ReferenceModel& reference, std::size_t batch) {
  if (reference.events) return make_event_problem(reference, batch);
  const TrunkSpec trunk = trunk_of(reference);
  densities().add(trunk.block.mixer.features.density.kind, make<FreeFrequencies>);
  const std::size_t B = batch > 0 ? batch : reference.batch;
  const Indices tokens = random_indices({B, reference.length}, reference.vocabulary, 1);
  if (reference.classes == 0)
    return problem_of<LanguageModel>(trunk, tokens,
                                     random_indices(tokens.shape, reference.vocabulary, 2));
  return problem_of<SequenceClassifier>(SequenceClassifierSpec{trunk, reference.classes, "mean"},
                                        tokens, random_indices({B}, reference.classes, 2));
}

}  // namespace bochner::inline BOCHNER_PRECISION
