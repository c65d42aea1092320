#include <fmt/format.h>

#include <bochner/base/text.hpp>
#include <bochner/layers/convolutions/filter.hpp>
#include <bochner/layers/models/token_inputs.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/layers/recurrences/recurrent_specs.hpp>
#include <bochner/train/tasks/encoding_checks.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/stack_checks.hpp>
#include <bochner/train/tasks/text/tokenizers.hpp>

namespace bochner {

void complete(DensitySpec& density, const Config& config) {
  density.seed = config.count("train.seed");
  density.redraw *= config.count("train.accumulate");
}

void complete(StackSpec& stack, const Config& config, std::size_t length) {
  FeatureSpec& features = stack.block.mixer.features;
  complete(features.density, config);
  complete(stack.block.mixer.time_kernel.density, config);
  features.refit *= config.count("train.accumulate");
  stack.block.mixer.warm_steps *= config.count("train.accumulate");
  stack.block.mixer.training_length = length;
  if (features.length == 0) features.length = length;
}

void complete_encoding(TrunkSpec& trunk, const Config& config) {
  trunk.encoding.space.seed = trunk.encoding.time.seed = config.count("train.seed");
}

LanguageModelSpec trunk_spec(const Config& config, std::size_t length) {
  auto spec = read_spec<LanguageModelSpec>(config, "model");
  spec.places.separator.clear();
  for (const char byte : separator_bytes(config))
    spec.places.separator.push_back(std::uint8_t(byte));
  if (config.text("data.kind") != "bytes") {
    spec.vocabulary = config.count("data.vocabulary");
    spec.places.separator = {std::int32_t(spec.vocabulary) - 1};  // the marker
  }
  spec.length = spec.places.length = length;
  complete_encoding(spec, config);
  complete(spec, config, length);
  spec.loss = read_spec<LossSpec>(config, "model");
  return spec;
}

void try_blocks(const Config& config) {
  if (!has_stack(config)) return;
  auto stack = read_spec<StackSpec>(config, "model");
  complete(stack, config, config.count("data.length"));
  stack.block.mixer.causal =
      predicts_what_follows(config) || config.integer("model.mixer.directions") == 1;
  const bool irregular = has_irregular_tokens(config);
  if (irregular || forecasts_rows(config))
    stack = with_times(stack, read_spec<TimeEncodingSpec>(config, "model.time"));
  stack.blocks = fewest_blocks(stack);
  BlockStack blocks(stack);
  initialize(blocks, config.count("train.seed"));
  const Times times = {{0., 1.5}};
  Tape tape({.recording = false});
  blocks.forward(tape, tape.constant(zeros({1, 2, stack.block.width})),
                 irregular ? layout_of(times) : Layout{.times = times});
}

namespace {

/// Returns the settings that distinguish mixers of a kind, "" if there are none.
std::string form_of(const MixerSpec& mixer) {
  if (mixer.kind == "linear")
    return fmt::format("{}, {}, m {}{}", mixer.features.kind, mixer.features.density.kind,
                       mixer.features.m, mixer.update == "sum" ? "" : ", " + mixer.update);
  if (mixer.kind == "ssm") return mixer.own.of<SsmSpec>().form;
  const std::string filter = mixer.own.of<FilterSection>().filter.kind;
  const bool has_one = mixer.kind == "hyena" || mixer.kind == "h3" || mixer.kind == "long_conv";
  return has_one && filter != "auto" ? filter : "";
}

}  // namespace

std::string describe_mixer(const MixerSpec& mixer) {
  const TimeKernelSpec& time = mixer.time_kernel;
  std::string decay = time.kind == "none" ? "" : " x " + time.kind;
  if (time.kind == "spectral")
    decay += fmt::format("({}, n {})", time.density.kind, time.frequencies);
  if (time.kind != "none" && time.per == "channel") decay += " per channel";
  const std::string form = form_of(mixer);
  return mixer.kind + (form.empty() ? "" : "(" + form + ")") + decay;
}

std::string describe_stack(const StackSpec& spec) {
  std::string mixers;
  const auto& pattern = spec.pattern;
  for (std::size_t i = 0, same = 0; i < std::max<std::size_t>(1, pattern.size()); i += same) {
    for (same = 1; i + same < pattern.size() && pattern[i + same] == pattern[i];) ++same;
    mixers += (i > 0 ? " + " : "") + (same > 1 ? fmt::format("{} ", same) : "") +
              describe_mixer(block_spec(spec, i).mixer);
  }
  return fmt::format("{}, D {}, {}", format_number_of(spec.blocks, "block"), spec.block.width,
                     mixers);
}

bool carries_context(const StackSpec& spec) {
  for (std::size_t i = 0; i < std::max<std::size_t>(1, spec.pattern.size()); ++i) {
    const MixerSpec mixer = block_spec(spec, i).mixer;
    if (!mixers().traits(mixer.kind, mixer).carries) return false;
  }
  return true;
}

std::string describe_time(const TimeEncodingSpec& spec) {
  return spec.kind == "none" ? "none" : fmt::format("{} ({})", spec.kind, spec.use);
}

}  // namespace bochner
