#include <fmt/format.h>

#include <bochner/train/charts/format.hpp>
#include <bochner/train/tasks/model_spec.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

Options own_options(const Config& config, const std::string& section,
                    const std::vector<Option>& options) {
  Options own;
  for (const Option& option : options) own[option.name] = config.number(section + option.name);
  return own;
}

DensitySpec density_spec(const Config& config) {
  DensitySpec density;
  density.kind = config.text("model.mixer.density.kind");
  density.draws = config.text("model.mixer.draws");
  density.redraw = config.count("model.mixer.redraw") * config.count("train.accumulate");
  density.seed = config.count("train.seed");
  density.log_scale = config.number("model.mixer.density.log_scale");
  density.components = config.count("model.mixer.density.components");
  density.temperature = config.number("model.mixer.density.temperature");
  density.degrees = config.number("model.mixer.density.degrees");
  density.shape = config.number("model.mixer.density.shape");
  density.knots = config.count("model.mixer.density.knots");
  density.layers = config.count("model.mixer.density.layers");
  density.hidden = config.count("model.mixer.density.hidden");
  density.own = own_options(config, "model.mixer.density.", densities().options());
  return density;
}

FeatureSpec feature_spec(const Config& config, std::size_t length) {
  const std::string section = "model.mixer.features.";
  const auto count = [&](const char* key) { return config.count(section + key); };
  FeatureSpec features;
  features.kind = config.text(section + "kind");
  features.m = config.count("model.mixer.m");
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
  features.length = count("length") > 0 ? count("length") : length;
  features.own = own_options(config, section, feature_maps().options());
  return features;
}

MixerSpec mixer_spec(const Config& config, std::size_t length) {
  MixerSpec mixer;
  mixer.kind = config.text("model.mixer.kind");
  mixer.heads = config.count("model.mixer.heads");
  mixer.convolution = config.count("model.mixer.convolution");
  mixer.chunk = config.count("model.mixer.chunk");
  mixer.features = feature_spec(config, length);
  mixer.features.density = density_spec(config);
  mixer.denominator.kind = config.text("model.mixer.denominator.kind");
  mixer.denominator.floor = config.number("model.mixer.denominator.floor");
  mixer.denominator.constant = config.number("model.mixer.denominator.constant");
  mixer.time_kernel.kind = config.text("model.mixer.time_kernel.kind");
  mixer.time_kernel.shortest = config.number("model.mixer.time_kernel.shortest");
  mixer.time_kernel.longest = config.number("model.mixer.time_kernel.longest");
  mixer.own = own_options(config, "model.mixer.", mixers().options());
  return mixer;
}

}  // namespace

BlockSpec block_spec(const Config& config, std::size_t length) {
  BlockSpec spec;
  spec.width = config.count("model.width");
  spec.expansion = config.count("model.expansion");
  spec.dropout = config.number("model.dropout");
  spec.norm = config.text("model.norm");
  spec.mixer = mixer_spec(config, length);
  return spec;
}

StackSpec stack_spec(const Config& config, std::size_t length) {
  StackSpec spec;
  spec.blocks = config.count("model.blocks");
  spec.checkpoint = config.flag("model.checkpoint");
  spec.block = block_spec(config, length);
  return spec;
}

TrunkSpec trunk_spec(const Config& config, std::size_t length) {
  TrunkSpec spec{stack_spec(config, length)};
  if (config.text("data.kind") != "bytes") spec.vocabulary = config.count("data.vocabulary");
  spec.length = length;
  spec.positions = config.text("model.positions");
  return spec;
}

std::string describe_stack(const StackSpec& spec) {
  const MixerSpec& mixer = spec.block.mixer;
  const std::string kernel = mixer.kind == "linear"
                                 ? fmt::format("linear({}, {}, m {})", mixer.features.kind,
                                               mixer.features.density.kind, mixer.features.m)
                                 : mixer.kind;
  const std::string decay = mixer.time_kernel.kind == "none" ? "" : " x " + mixer.time_kernel.kind;
  return fmt::format("{}, D {}, {}{}", format_number_of(spec.blocks, "block"), spec.block.width,
                     kernel, decay);
}

std::string describe_trunk(const TrunkSpec& spec) {
  return fmt::format("{}, positions {}", describe_stack(spec), spec.positions);
}

}  // namespace bochner::inline BOCHNER_PRECISION
