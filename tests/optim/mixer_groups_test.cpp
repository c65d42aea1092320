#include <gtest/gtest.h>

#include <bochner/base/text.hpp>
#include <bochner/layers/models/block.hpp>
#include <bochner/layers/recurrences/recurrent_specs.hpp>
#include <bochner/optim/optimizer.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace mixer_groups_test {

StackSpec stack_of(const std::string& kind) {
  StackSpec spec;
  spec.blocks = 2;
  spec.block.width = 8, spec.block.mixer.heads = 2, spec.block.mixer.kind = kind;
  return spec;
}

/// Returns the decay of a stack's matrices whose names match; there must be some.
std::vector<double> decays_of(const StackSpec& spec, const std::string& pattern) {
  BlockStack stack(spec);
  const std::vector<NamedParameter> parameters = parameters_of(stack);
  const auto settings = resolve_groups(parameters, 0.5, 1, {});
  std::vector<double> decays;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].parameter->shape().size() >= 2 && matches(pattern, parameters[i].name))
      decays.push_back(settings[i].weight_decay);
  EXPECT_FALSE(decays.empty()) << "no matrix " << pattern << " in " << spec.block.mixer.kind;
  return decays;
}

void expect_decay(const StackSpec& spec, const std::string& pattern, double decay) {
  for (const double found : decays_of(spec, pattern))
    EXPECT_EQ(found, decay) << spec.block.mixer.kind << ": " << pattern;
}

/// Parameters that set a mixer's memory, by name; for state spaces as in Gu et al., "S4D", 2022.
TEST(GroupsOfMixers, DecayNothingThatSetsTheMemory) {
  expect_decay(stack_of("hgrn2"), "*.mixer.lower_bounds.logits", 0);
  expect_decay(stack_of("hyena"), "*.mixer.filter.past.*", 0);
  expect_decay(stack_of("long_conv"), "*.mixer.filter.past.*", 0);
  expect_decay(stack_of("sgconv"), "*.mixer.filter.weight", 0);
  expect_decay(stack_of("h3"), "*.mixer.filter.past.*", 0);
  expect_decay(stack_of("h3"), "*.mixer.shift.past.*", 0);
  expect_decay(stack_of("mamba"), "*.mixer.spectrum.log_rate", 0);
  expect_decay(stack_of("rwkv7"), "*.mixer.shift.shares", 0);
  StackSpec states = stack_of("ssm");
  for (const char* form : {"s4d", "dss"}) {
    states.block.mixer.own.of<SsmSpec>().form = form;
    expect_decay(states, "*.mixer.system.spectrum.log_rate", 0);
    expect_decay(states, "*.mixer.system.spectrum.frequencies", 0);
  }
  states.block.mixer.own.of<SsmSpec>().form = "ema";
  expect_decay(states, "*.mixer.system.directions.0.spectrum.*", 0);
  StackSpec gates = stack_of("linear");
  gates.block.mixer.time_kernel.kind = "gate", gates.block.mixer.time_kernel.per = "channel";
  expect_decay(gates, "*.mixer.time_kernel.gate*", 0);
  expect_decay(gates, "*.mixer.features.density.*", 0);
}

/// Decay would pull the exponentiated values to 1; such matrices are named as logarithms.
TEST(GroupsOfMixers, DecayNoLogarithms) {
  StackSpec sphere = stack_of("softmax");
  sphere.block.mixer.normalize = "l2";
  expect_decay(sphere, "*.mixer.log_sharpness", 0);
  for (const std::string& kind : mixers().names()) {
    BlockStack stack(stack_of(kind));
    const std::vector<NamedParameter> parameters = parameters_of(stack);
    const auto settings = resolve_groups(parameters, 0.5, 1, {});
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (!matches("*.log_*", parameters[i].name)) continue;
      EXPECT_EQ(settings[i].weight_decay, 0) << kind << ": " << parameters[i].name;
    }
  }
}

TEST(GroupsOfMixers, DecayMapsOfChannels) {
  expect_decay(stack_of("softmax"), "*.mixer.query.weight", 0.5);
  expect_decay(stack_of("hgrn2"), "*.mixer.input.weight", 0.5);
  expect_decay(stack_of("ssm"), "*.mixer.output.value.weight", 0.5);
  expect_decay(stack_of("ssm"), "*.mixer.system.output", 0.5);
  expect_decay(stack_of("min_gru"), "*.mixer.directions.0.gate.weight", 0.5);
  expect_decay(stack_of("mlstm"), "*.mixer.directions.0.key.weight", 0.5);
  expect_decay(stack_of("hyena"), "*.mixer.projections.weight", 0.5);
}

}  // namespace mixer_groups_test
}  // namespace bochner::inline BOCHNER_PRECISION
