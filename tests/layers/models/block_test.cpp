#include <gmock/gmock.h>

#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/layers/models/token_models.hpp>
#include <map>

#include "layers/layer_check.hpp"
#include "layers/scaled_norm.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace block_test {

using namespace layer_check;
using testing::HasSubstr;

StackSpec tiny(const std::string& mlp, const std::string& norm = "layer", bool causal = true) {
  StackSpec spec;
  spec.blocks = 2;
  spec.block.width = 6, spec.block.expansion = 1;
  spec.block.mlp = mlp, spec.block.norm = norm;
  spec.block.mixer.kind = "linear", spec.block.mixer.heads = 2, spec.block.mixer.chunk = 4;
  spec.block.mixer.features.m = 5, spec.block.mixer.causal = causal;
  return spec;
}

/// Three blocks' depth of one block that also gets the input of the stack.
StackSpec repeated() {
  StackSpec spec = tiny("gelu");
  spec.blocks = 1, spec.repeat = 3, spec.input_residual = true;
  return spec;
}

/// Three blocks, of which those after the first get its values.
StackSpec sharing_values(bool recomputes = false) {
  StackSpec spec = tiny("none");
  spec.blocks = 3, spec.value_residual = true, spec.checkpoint = recomputes;
  spec.pattern = {"linear", "softmax"};
  return spec;
}

/// An MLP of a program.
class Squared : public FeedForward {
 public:
  explicit Squared(const FeedForwardSpec&) {}
  Var forward(Tape&, const Var& x) override { return square(x); }
  void visit(Visitor&) override {}
};

TEST(Block, TakesNormsAndMlpsOfAProgram) {
  norms().add("scaled", make<Scaled, ScaledSpec>);
  mlps().add("squared", make<Squared>);
  StackSpec spec = tiny("squared", "scaled", false);
  spec.block.own.of<ScaledSpec>().scale = 0.5;
  Block block(block_spec(spec, 0));
  Tape tape({.recording = false});
  const Var x(filled({1, 2, 6}, real(4)));
  EXPECT_EQ(block.feed(tape, x).value(), filled({1, 2, 6}, real(8)));
}

TEST(BlockStack, HasWhatStandsBehindItsMixers) {
  const std::map<std::string, std::size_t> parameters{{"gelu", 2 * 6 + 6 * 6 + 6 + 6 * 6 + 6},
                                                      {"swiglu", 2 * 6 + 6 * 12 + 12 + 6 * 6 + 6},
                                                      {"glu", 6 * 12 + 12},
                                                      {"none", 0}};
  BlockStack bare(tiny("none"));
  for (const auto& [mlp, more] : parameters) {
    SCOPED_TRACE(mlp);
    BlockStack stack(tiny(mlp));
    EXPECT_EQ(count_parameters(stack), count_parameters(bare) + 2 * more);
    randomize(stack, 0.4);
    check_layer(stack, random_tensor({2, 5, 6}, 1),
                [&](Tape& tape, const Var& x) { return stack.forward(tape, x); });
  }
}

TEST(BlockStack, RepeatsBlocksAndAddsTheirInput) {
  BlockStack stack(repeated());
  randomize(stack, 0.4);
  EXPECT_EQ(parameters_of(stack).size(), parameters_of(*parts_of(stack)[0].part).size() + 4);
  check_layer(stack, random_tensor({2, 5, 6}, 1),
              [&](Tape& tape, const Var& x) { return stack.forward(tape, x); });
}

TEST(BlockStack, MixesTheFirstValuesIntoLaterOnes) {
  const Tensor x = random_tensor({2, 5, 6}, 1);
  Tape tape({.recording = false});
  BlockStack stack(sharing_values()), recomputed(sharing_values(true));
  for (BlockStack* each : {&stack, &recomputed}) {
    randomize(*each, 0.4);
    check_layer(*each, x, [&](Tape& pass, const Var& in) { return each->forward(pass, in); });
  }
  EXPECT_EQ(recomputed.forward(tape, x).value(), stack.forward(tape, x).value());
  StackSpec spec = sharing_values();
  spec.value_residual = false;
  BlockStack plain(spec);
  std::map<std::string, Parameter*> others;
  for (const auto& [name, parameter] : parameters_of(plain)) others[name] = parameter;
  for (const auto& [name, parameter] : parameters_of(stack)) {
    if (name.ends_with("value_residual"))
      parameter->assign({real(1), real(0)});
    else
      others.at(name)->assign(Tensor(parameter->value()));
  }
  EXPECT_EQ(count_parameters(stack), count_parameters(plain) + 4);
  EXPECT_EQ(stack.forward(tape, x).value(), plain.forward(tape, x).value());
}

TEST(BlockStack, NeedsTwoBlocksToShareValues) {
  StackSpec spec = sharing_values();
  spec.pattern = {"linear", "hgrn2"}, spec.blocks = 2;
  EXPECT_THAT([&] { BlockStack stack(spec); },
              testing::ThrowsMessage<std::invalid_argument>(
                  HasSubstr("value_residual needs two blocks whose mixers have values")));
}

TEST(Block, StartsAsTheIdentityIfAsked) {
  for (const char* mixer : {"linear", "ssm", "mlstm", "hgrn2"}) {
    StackSpec spec = tiny(mixer == std::string("hgrn2") ? "glu" : "gelu");
    spec.block.zero_init = true, spec.block.mixer.kind = mixer;
    Block block(block_spec(spec, 0, std::make_shared<StackPlace::Shared>()));
    initialize(block, 1);
    Tape tape({.training = true});
    const Tensor x = random_tensor({2, 5, 6}, 1);
    EXPECT_EQ(block.forward(tape, tape.input(x)).value(), x) << mixer;
  }
}

TEST(Block, DropsWholeSequencesOfItsResiduals) {
  StackSpec spec = tiny("none");
  spec.block.stochastic_depth = 0.25;
  Block last(block_spec(spec, 1));
  initialize(last, 1);
  const Tensor x = random_tensor({4000, 1, 6}, 1);
  const auto residuals = [&](Block& block, bool training) {
    Tape tape({.training = training, .recording = false});
    return Tensor(block.forward(tape, Var(x)).value() - x);
  };
  const Tensor kept = residuals(last, true), all = residuals(last, false);
  std::size_t dropped = 0;
  for (std::size_t i = 0; i < kept.size(); i += 6) {
    dropped += kept.data()[i] == 0;
    for (std::size_t j = i; j < i + 6; ++j)
      EXPECT_NEAR(kept.data()[j], kept.data()[i] == 0 ? 0 : all.data()[j] / 0.75, 1e-5);
  }
  EXPECT_NEAR(double(dropped) / 4000, 0.25, 0.03);
}

TEST(BlockStack, StepsAsTheWholeSequence) {
  const std::map<std::string, StackSpec> specs{{"swiglu", tiny("swiglu")},
                                               {"glu", tiny("glu")},
                                               {"none", tiny("none")},
                                               {"repeated", repeated()},
                                               {"values", sharing_values()}};
  for (const auto& [name, spec] : specs) {
    SCOPED_TRACE(name);
    BlockStack stack(spec);
    randomize(stack, 0.4);
    const Tensor x = random_tensor({1, 9, 6}, 1);
    Tape tape({.recording = false});
    const Tensor whole = stack.forward(tape, x).value();
    BlockStack::State state = stack.start();
    for (std::size_t t = 0; t < 9; ++t) {
      Tensor token = zeros({1, 1, 6});
      std::copy_n(x.data() + t * 6, 6, token.data());
      const Tensor y = stack.step(tape, token, state).value();
      for (std::size_t i = 0; i < 6; ++i)
        EXPECT_NEAR(y.data()[i], whole.data()[t * 6 + i], is_double ? 1e-12 : 5e-5);
    }
  }
}

/// Returns gradients and moments of a training pass with padding.
std::vector<Tensor> trained(std::size_t T) {
  BlockStack stack(tiny("gelu", "batch", false));
  randomize(stack, 0.4);
  const std::vector<std::size_t> lengths{7, 3};
  Tensor x = filled({2, T, 6}, 5), g = zeros({2, T, 6});
  const Tensor tokens = random_tensor({2, 7, 6}, 1), gradients = random_tensor({2, 7, 6}, 2);
  for (std::size_t b = 0; b < 2; ++b) {
    std::copy_n(tokens.data() + b * 42, lengths[b] * 6, x.data() + b * T * 6);
    std::copy_n(gradients.data() + b * 42, lengths[b] * 6, g.data() + b * T * 6);
  }
  Tape tape;
  tape.training = true;
  const Var y = stack.forward(tape, tape.input(x), {lengths});
  tape.backward(y, g);
  std::vector<Tensor> results;
  for (const NamedParameter& named : parameters_of(stack))
    results.push_back(named.parameter->gradient());
  for (const NamedTensor& named : buffers_of(stack)) results.push_back(*named.tensor);
  return results;
}

TEST(BlockStack, OfBatchNormSeesNoPadding) {
  const auto some = trained(7), more = trained(19);
  ASSERT_EQ(some.size(), more.size());
  for (std::size_t i = 0; i < some.size(); ++i) op_check::expect_near(more[i], some[i], 1e-4);
}

/// Running moments are updated once per batch, by the first computation.
TEST(BlockStack, OfBatchNormLearnsOnceWhenRecomputed) {
  for (const char* mlp : {"gelu", "none"}) {
    StackSpec spec = tiny(mlp, "batch", false);
    std::vector<std::vector<Tensor>> results;
    for (const bool recomputed : {false, true}) {
      spec.checkpoint = recomputed;
      BlockStack stack(spec);
      randomize(stack, 0.4);
      Tape tape;
      tape.training = true;
      const Var y = stack.forward(tape, tape.input(random_tensor({2, 7, 6}, 1)));
      tape.backward(y, random_tensor({2, 7, 6}, 2));
      results.emplace_back();
      for (const NamedTensor& named : buffers_of(stack)) results.back().push_back(*named.tensor);
    }
    for (std::size_t i = 0; i < results[0].size(); ++i)
      op_check::expect_equal_bits(results[1][i], results[0][i]);
  }
}

/// Averages channels by mistake, which would broadcast.
class Narrow : public Mixer {
 public:
  explicit Narrow(const MixerSpec&) {}
  Var forward(Tape&, const Var& x, const Layout&) override { return mean(x, -1, keep); }
  std::unique_ptr<MixerState> start() const override { return nullptr; }
  Var step(Tape&, const Var& x, MixerState&) override { return mean(x, -1, keep); }
  void visit(Visitor&) override {}
};

TEST(BlockStack, RefusesWhatAMixerMustNotGive) {
  const Mixers others = mixers();
  mixers().add("narrow", make<Narrow>, MixerTraits{});
  for (const char* mlp : {"gelu", "glu"}) {
    StackSpec spec = tiny(mlp);
    spec.block.mixer = MixerSpec();
    spec.block.mixer.kind = "narrow";
    BlockStack stack(spec);
    Tape tape({.recording = false});
    EXPECT_EQ(op_check::error_of([&] {
                stack.forward(tape, random_tensor({2, 7, 6}, 1));
              }),
              "[mixer] expected output (2, 7, 6), got (2, 7, 1)");
    EXPECT_EQ(op_check::error_of([&] { stack.start(); }),
              "[mixer] start() returned null; return a MixerState if there is no state");
  }
  mixers() = others;
}

TEST(BlockStack, SaysWhichShapesItTakes) {
  BlockStack stack(tiny("gelu"));
  Tape tape({.recording = false});
  BlockStack::State state = stack.start(), empty;
  const auto forward = [&](const Shape& shape) {
    return op_check::error_of([&] { stack.forward(tape, zeros(shape)); });
  };
  const auto step = [&](const Shape& shape, BlockStack::State& from) {
    return op_check::error_of([&] { stack.step(tape, zeros(shape), from); });
  };
  EXPECT_EQ(forward({7, 6}), "[blocks] tokens must be (B, T, 6), not (7, 6)");
  EXPECT_EQ(forward({2, 7, 5}), "[blocks] tokens must be (B, T, 6), not (2, 7, 5)");
  EXPECT_EQ(step({2, 3, 6}, state), "[blocks] the next tokens must be (B, 1, 6), not (2, 3, 6)");
  EXPECT_EQ(step({2, 1, 6}, empty), "[blocks] the state has 0 blocks, expected 2; use start()");
}

TEST(LanguageModel, RefusesBatchNorm) {
  LanguageModelSpec spec;
  spec.block.norm = "batch";
  EXPECT_THAT(op_check::error_of([&] { LanguageModel{spec}; }),
              HasSubstr("[language_model] the norm \"batch\" leaks future tokens in training"));
}

}  // namespace block_test
}  // namespace bochner::inline BOCHNER_PRECISION
