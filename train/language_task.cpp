#include <fmt/format.h>

#include <bochner/data/byte_corpus.hpp>
#include <bochner/data/glob.hpp>
#include <bochner/layers/initialize.hpp>
#include <bochner/train/format.hpp>
#include <bochner/train/language_task.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

ByteWindows open_windows(const Config& config) {
  ByteCorpus corpus(expand_files(config.text_list("data.files"), std::filesystem::current_path()));
  return ByteWindows(std::move(corpus), std::size_t(config.integer("data.length")),
                     config.number("data.validation"), std::uint64_t(config.integer("train.seed")));
}

DensitySpec density_spec(const Config& config) {
  const auto count = [&](const char* name) { return std::size_t(config.integer(name)); };
  DensitySpec density;
  density.kind = config.text("model.mixer.density.kind");
  density.draws = config.text("model.mixer.draws");
  density.redraw = count("model.mixer.redraw") * count("train.accumulate");
  density.seed = count("train.seed");
  density.log_scale = config.number("model.mixer.density.log_scale");
  density.components = count("model.mixer.density.components");
  density.temperature = config.number("model.mixer.density.temperature");
  density.degrees = config.number("model.mixer.density.degrees");
  density.shape = config.number("model.mixer.density.shape");
  density.knots = count("model.mixer.density.knots");
  density.layers = count("model.mixer.density.layers");
  density.hidden = count("model.mixer.density.hidden");
  return density;
}

FeatureSpec feature_spec(const Config& config) {
  const std::string section = "model.mixer.features.";
  const auto count = [&](const char* key) { return std::size_t(config.integer(section + key)); };
  FeatureSpec features;
  features.kind = config.text(section + "kind");
  features.m = std::size_t(config.integer("model.mixer.m"));
  features.projection = config.text(section + "projection");
  features.temperature = config.flag(section + "temperature");
  features.spread = config.number(section + "spread");
  features.lambda = count("lambda");
  features.tau = config.number(section + "tau");
  features.smooth = config.flag(section + "smooth");
  features.bases = count("bases");
  features.gates = count("gates");
  features.hidden = count("hidden");
  features.box = config.number(section + "box");
  features.rolls = count("rolls");
  features.length =
      count("length") > 0 ? count("length") : std::size_t(config.integer("data.length"));
  return features;
}

MixerSpec mixer_spec(const Config& config) {
  MixerSpec mixer;
  mixer.kind = config.text("model.mixer.kind");
  mixer.heads = std::size_t(config.integer("model.mixer.heads"));
  mixer.convolution = std::size_t(config.integer("model.mixer.convolution"));
  mixer.chunk = std::size_t(config.integer("model.mixer.chunk"));
  mixer.features = feature_spec(config);
  mixer.features.density = density_spec(config);
  mixer.denominator.kind = config.text("model.mixer.denominator.kind");
  mixer.denominator.floor = config.number("model.mixer.denominator.floor");
  mixer.denominator.constant = config.number("model.mixer.denominator.constant");
  mixer.time_kernel.kind = config.text("model.mixer.time_kernel.kind");
  mixer.time_kernel.shortest = config.number("model.mixer.time_kernel.shortest");
  mixer.time_kernel.longest = config.number("model.mixer.time_kernel.longest");
  return mixer;
}

}  // namespace

LanguageModelSpec language_model_spec(const Config& config) {
  LanguageModelSpec spec;
  if (config.text("data.kind") != "bytes")
    spec.vocabulary = std::size_t(config.integer("data.vocabulary"));
  spec.length = std::size_t(config.integer("data.length"));
  spec.blocks = std::size_t(config.integer("model.blocks"));
  spec.positions = config.text("model.positions");
  spec.checkpoint = config.flag("model.checkpoint");
  spec.block.width = std::size_t(config.integer("model.width"));
  spec.block.expansion = std::size_t(config.integer("model.expansion"));
  spec.block.dropout = config.number("model.dropout");
  spec.block.norm = config.text("model.norm");
  spec.block.mixer = mixer_spec(config);
  return spec;
}

std::unique_ptr<LanguageModel> make_language_model(const Config& config) {
  auto model = std::make_unique<LanguageModel>(language_model_spec(config));
  initialize(*model, std::uint64_t(config.integer("train.seed")));
  return model;
}

LanguageTask::LanguageTask(const Config& config)
    : spec_(language_model_spec(config)),
      windows_(open_windows(config)),
      model_(make_language_model(config)) {}

Var LanguageTask::loss(Tape& tape, std::uint64_t first, std::size_t count) {
  const Batch batch = windows_.batch(first, count);
  return model_->loss(tape, batch.inputs, batch.targets);
}

Evaluation LanguageTask::validate(Tape& tape, std::uint64_t index, std::size_t size) {
  const Batch batch = windows_.validation_batch(index, size);
  const Var loss = model_->loss(tape, batch.inputs, batch.targets);
  const std::uint64_t tokens = batch.targets.values.size();
  return {double(loss.value().data()[0]) * double(tokens), tokens};
}

std::string describe_trunk(const TrunkSpec& spec) {
  const MixerSpec& mixer = spec.block.mixer;
  const std::string kernel = mixer.kind == "linear"
                                 ? fmt::format("linear({}, {}, m {})", mixer.features.kind,
                                               mixer.features.density.kind, mixer.features.m)
                                 : mixer.kind;
  const std::string decay = mixer.time_kernel.kind == "none" ? "" : " x " + mixer.time_kernel.kind;
  return fmt::format("{}, D {}, {}{}, positions {}", format_number_of(spec.blocks, "block"),
                     spec.block.width, kernel, decay, spec.positions);
}

std::string LanguageTask::describe_data() const {
  return fmt::format("{}, {}  ·  {} to train, {} to validate",
                     format_number_of(windows_.corpus().file_count(), "file"),
                     format_bytes(double(windows_.corpus().size())),
                     format_bytes(double(windows_.train_bytes())),
                     format_bytes(double(windows_.validation_bytes())));
}

}  // namespace bochner::inline BOCHNER_PRECISION
