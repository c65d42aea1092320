#include <fmt/format.h>

#include <bochner/autodiff/ops/loss.hpp>
#include <bochner/layers/models/field_model.hpp>
#include <bochner/layers/models/token_models.hpp>
#include <bochner/layers/module.hpp>
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
    {"spatiotemporal", "linear", 64, 4, 32, 2, 4, 0, 4096, 2, 0, false, 16},
};
/// Of space, and of time, in the encoding of a field.
constexpr std::size_t field_frequencies = 32;

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

Tensor random_numbers(const Shape& shape, std::uint64_t stream) {
  const RandomFunction random{1, Purpose::test, stream};
  Tensor numbers = uninitialized(shape);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers.data()[i] = real(random.normal(i));
  return numbers;
}

/// What is read from every frame against random numbers.
ReferenceProblem field_problem(const ReferenceModel& reference, const StackSpec& stack,
                               std::size_t B) {
  const std::size_t n = reference.frames;
  FieldModelSpec spec{.frames = n, .height = n, .width = n};
  spec.encoding.space.frequencies = field_frequencies;
  spec.encoding.time = {.dimensions = 1, .frequencies = field_frequencies, .stream = 1};
  spec.stack = stack;
  auto model = std::make_unique<FieldModel>(spec);
  initialize(*model, 1);
  const Shape shape{B, n, n, n};
  const auto loss = [&model = *model, frames = random_numbers(shape, 1),
                     targets = random_numbers(shape, 2)](Tape& tape) {
    return mean_squared_error(model.readings(tape, frames), targets);
  };
  return {std::move(model), loss, element_count(shape)};
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

std::string reference_model_names() {
  std::string names;
  for (const ReferenceModel& model : models)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", model.name);
  return names + " or all";
}

const ReferenceModel& reference_model(const std::string& name) {
  for (const ReferenceModel& model : models)
    if (name == model.name) return model;
  throw std::invalid_argument(
      fmt::format("bench step {}: no such model; there are {}", name, reference_model_names()));
}

ReferenceProblem make_problem(const ReferenceModel& reference, std::size_t batch) {
  const TrunkSpec trunk = trunk_of(reference);
  densities().add(trunk.block.mixer.features.density.kind, make<FreeFrequencies>);
  const std::size_t B = batch > 0 ? batch : reference.batch;
  if (reference.events) return make_event_problem(reference, trunk, B);
  if (reference.frames > 0) return field_problem(reference, trunk, B);
  const Indices tokens = random_indices({B, reference.length}, reference.vocabulary, 1);
  if (reference.classes == 0)
    return problem_of<LanguageModel>(trunk, tokens,
                                     random_indices(tokens.shape, reference.vocabulary, 2));
  return problem_of<SequenceClassifier>(SequenceClassifierSpec{trunk, reference.classes, "mean"},
                                        tokens, random_indices({B}, reference.classes, 2));
}

}  // namespace bochner::inline BOCHNER_PRECISION
