#include <fmt/format.h>

#include <bochner/autodiff/ops/loss.hpp>
#include <bochner/base/join.hpp>
#include <bochner/layers/models/event_model.hpp>
#include <bochner/layers/models/field_model.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/layers/recurrences/recurrent_specs.hpp>
#include <bochner/layers/spectral/base_draws.hpp>
#include <bochner/train/commands/bench/reference_models.hpp>
#include <bochner/train/commands/command_line.hpp>
#include <ranges>

namespace bochner {
namespace {

constexpr ReferenceModel models[] = {
    {"tiny-performer", "linear", 32, 2, 16, 2, 2, 64, 128, 4},
    {"performer-lm", "linear", 128, 4, 64, 2, 4, 256, 1024, 8},
    {"performer-lm-16k", "linear", 64, 4, 32, 2, 4, 256, 16384, 1},
    {"softmax-lm", "softmax", 128, 4, 64, 2, 4, 256, 1024, 8},
    {"performer-cls", "linear", 128, 4, 64, 4, 4, 20, 2048, 8, 10},
    {"time-events", "softmax", 64, 4, 64, 2, 4, 1000, 128, 32, 0, true},
    {"spatiotemporal", "linear", 64, 4, 32, 2, 4, 0, 4096, 2, 0, false, 16},
    {"gla-lm", "gla", 128, 4, 64, 2, 4, 256, 1024, 8},
    {"delta-lm", "delta", 128, 4, 64, 2, 4, 256, 1024, 8},
    {"mamba2-lm", "mamba2", 128, 4, 64, 2, 4, 256, 1024, 8},
    {"rwkv7-lm", "rwkv7", 128, 4, 64, 2, 4, 256, 1024, 8},
    {"log-linear-lm", "log_linear", 128, 4, 64, 2, 4, 256, 1024, 8},
    {"hyena-lm", "hyena", 128, 4, 64, 2, 4, 256, 1024, 8},
    {"hyena-lm-16k", "hyena", 64, 4, 32, 2, 4, 256, 16384, 1},
    {"s5-cls", "s5", 128, 4, 64, 4, 4, 20, 2048, 8, 10},
};
/// Frequencies of space, and of time, in the encoding of a field.
constexpr std::size_t field_frequencies = 32;

/// Density whose frequencies are parameters, shared by all heads, as in the PyTorch models.
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

/// Sets the mixer by the name used in papers; other names are mixer kinds.
void choose_mixer(MixerSpec& spec, const std::string& name) {
  const bool gated = name == "gla" || name == "delta";
  spec.kind = gated ? "linear" : name == "s5" ? "ssm" : name;
  if (gated) spec.time_kernel.kind = "gate";
  if (name == "gla") spec.time_kernel.per = "channel";
  if (name == "delta") spec.update = "delta";
  spec.own.of<SsmSpec>().form = "s5";
}

TrunkSpec trunk_of(const ReferenceModel& reference) {
  TrunkSpec spec;
  spec.vocabulary = reference.vocabulary;
  spec.length = reference.length;
  spec.blocks = reference.blocks;
  spec.block.width = reference.width;
  spec.block.expansion = reference.expansion;
  choose_mixer(spec.block.mixer, reference.mixer);
  spec.block.mixer.features.length = spec.block.mixer.training_length = reference.length;
  spec.block.mixer.heads = reference.heads;
  spec.block.mixer.features.m = reference.m;
  spec.block.mixer.features.density.kind = "free_frequencies_of_the_bench";
  return spec;
}

template <class Model, class... Batch>
ReferenceProblem problem_of(std::unique_ptr<Model> model, std::size_t tokens, Batch... batch) {
  initialize(*model, 1);
  const auto loss = [&model = *model, ... batch = std::move(batch)](Tape& tape) {
    return model.loss(tape, batch...);
  };
  return {std::move(model), loss, tokens};
}

/// Model that predicts the type of the next event from types and times, as in PyTorch.
class EventClassifier : public Module {
 public:
  EventClassifier(const EventEncodingSpec& encoding, const StackSpec& stack)
      : encoding_(encoding), stack_(stack), head_(encoding.width, encoding.types) {}
  Var loss(Tape& tape, const Indices& types, const Indices& next, const Times& times) {
    const Var x = stack_.forward(tape, encoding_.forward(tape, types, times));
    return affine_cross_entropy(x, head_.weight(tape), head_.bias(tape), next);
  }
  void visit(Visitor& visitor) override {
    visitor("encoding", encoding_);
    stack_.visit(visitor);
    visitor("head", head_);
  }

 private:
  EventEncoding encoding_;
  BlockStack stack_;
  Linear head_;
};

EventEncodingSpec encoding_of(const ReferenceModel& reference) {
  return {reference.vocabulary,
          reference.width,
          {.kind = "mercer", .m = 8, .degree = 4, .paired = false, .shortest = 1, .longest = 1e4}};
}

/// Draws times (B, T) with gaps uniform on [0, 100].
Times random_times(std::size_t B, std::size_t T) {
  Times times(std::vector<std::size_t>{B, T});
  const RandomFunction random{1, Purpose::test, 3};
  for (std::size_t i = 0; i < times.size(); ++i)
    times.data()[i] = (i % T == 0 ? 0 : times.data()[i - 1]) + 100 * random.uniform(i);
  return times;
}

/// Field model with the mean squared error of its reconstruction as loss.
class FrameReader : public FieldModel {
 public:
  using FieldModel::FieldModel;
  Var loss(Tape& tape, const Tensor& frames, const Tensor& targets) {
    return mean_squared_error(reconstruct(tape, frames), targets);
  }
};

FieldModelSpec field_of(const ReferenceModel& reference, const StackSpec& stack) {
  const std::size_t n = reference.frames;
  FieldModelSpec spec{.frames = n, .sides = {n, n}};
  spec.encoding.space.frequencies = field_frequencies;
  spec.encoding.time = {.dimensions = 1, .frequencies = field_frequencies, .stream = 1};
  spec.stack = stack;
  return spec;
}

}  // namespace

Indices random_indices(const Shape& shape, std::size_t below, std::uint64_t stream) {
  Indices indices{shape, std::vector<std::int32_t>(element_count(shape))};
  const RandomFunction random{1, Purpose::test, stream};
  for (std::size_t i = 0; i < indices.values.size(); ++i)
    indices.values[i] = std::int32_t(random.integer(i, below));
  return indices;
}

Tensor random_numbers(const Shape& shape, std::uint64_t stream) {
  const RandomFunction random{1, Purpose::test, stream};
  Tensor numbers = uninitialized(shape);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers.data()[i] = real(random.normal(i));
  return numbers;
}

bool any_model(const ReferenceModel&) { return true; }

bool writes_text(const ReferenceModel& reference) {
  return reference.classes == 0 && reference.frames == 0 && !reference.events;
}

std::string reference_model_names(ModelFilter fits) {
  return fmt::format("{} or all", joined(models | std::views::filter(fits) |
                                             std::views::transform(&ReferenceModel::name),
                                         ", "));
}

std::vector<ReferenceModel> reference_models(const std::string& command, const std::string& name,
                                             ModelFilter fits) {
  std::vector<ReferenceModel> found;
  for (const ReferenceModel& model : models)
    if ((name == "all" || name == model.name) && fits(model)) found.push_back(model);
  demand(!found.empty(), "{} {}: must be {}", command, name, reference_model_names(fits));
  return found;
}

ReferenceProblem make_problem(const ReferenceModel& reference, std::size_t batch) {
  const TrunkSpec trunk = trunk_of(reference);
  densities().add(trunk.block.mixer.features.density.kind, make<FreeFrequencies>);
  const std::size_t B = batch > 0 ? batch : reference.batch, T = reference.length,
                    types = reference.vocabulary, n = reference.frames;
  if (n > 0)
    return problem_of(std::make_unique<FrameReader>(field_of(reference, trunk)), B * n * n * n,
                      random_numbers({B, n, n, n}, 1), random_numbers({B, n, n, n}, 2));
  const Indices tokens = random_indices({B, T}, types, 1), next = random_indices({B, T}, types, 2);
  if (reference.events)
    return problem_of(std::make_unique<EventClassifier>(encoding_of(reference), trunk), B * T,
                      tokens, next, random_times(B, T));
  if (reference.classes == 0)
    return problem_of(std::make_unique<LanguageModel>(trunk), B * T, tokens, next);
  const SequenceClassifierSpec spec{trunk, reference.classes, "mean"};
  return problem_of(std::make_unique<SequenceClassifier>(spec), B * T, tokens,
                    random_indices({B}, reference.classes, 2));
}

std::unique_ptr<LanguageModel> make_generator(const ReferenceModel& reference) {
  TrunkSpec trunk = trunk_of(reference);
  trunk.positions = "none";
  densities().add(trunk.block.mixer.features.density.kind, make<FreeFrequencies>);
  auto model = std::make_unique<LanguageModel>(trunk);
  initialize(*model, 1);
  return model;
}

}  // namespace bochner
