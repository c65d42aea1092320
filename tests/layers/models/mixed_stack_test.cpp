#include <gmock/gmock.h>

#include <bochner/layers/models/block.hpp>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace mixed_stack_test {

using namespace layer_check;

/// Returns a stack of the pattern's mixers, and the first one again.
StackSpec mixed(const std::vector<std::string>& pattern, const std::string& time_kernel) {
  StackSpec spec;
  spec.pattern = pattern;
  spec.blocks = spec.pattern.size() + 1;
  spec.positions = "none";
  spec.block.width = 8, spec.block.expansion = 1;
  spec.block.mixer.heads = 2, spec.block.mixer.chunk = 4;
  spec.block.mixer.features.m = 5;
  spec.block.mixer.time_kernel = {time_kernel, 2, 30};
  return spec;
}

/// Returns two stacks with a factor that one mixer lacks, and one of all mixers.
std::vector<StackSpec> all_mixed() {
  StackSpec channels = mixed({"linear", "softmax"}, "gate");
  channels.block.mixer.time_kernel.per = "channel";
  return {mixed({"linear", "softmax"}, "gate"), channels, mixed(mixers().names(), "none")};
}

bool has_parameter(Module& module, const std::string& name) {
  for (const NamedParameter& named : parameters_of(module))
    if (named.name == name) return true;
  return false;
}

TEST(BlockStack, TakesMixersFromThePatternAgainAndAgain) {
  StackSpec spec = mixed({"linear", "softmax"}, "gate");
  spec.blocks = 5;
  for (std::size_t i = 0; i < spec.blocks; ++i) {
    const BlockSpec block = block_spec(spec, i);
    EXPECT_EQ(block.mixer.kind, i % 2 == 0 ? "linear" : "softmax");
    EXPECT_EQ(block.mixer.time_kernel.kind, i % 2 == 0 ? "gate" : "none");  // softmax has none
    EXPECT_EQ(block.mixer.features.density.seed, spec.block.mixer.features.density.seed + i);
  }
  spec.block.mixer.time_kernel.kind = "decay";
  EXPECT_EQ(block_spec(spec, 1).mixer.time_kernel.kind, "decay");
  BlockStack stack(spec);
  EXPECT_TRUE(has_parameter(stack, "blocks.1.mixer.time_kernel.log_rate"));
  EXPECT_EQ(buffers_of(stack).size(), 3u);  // draws of the linear blocks
}

TEST(BlockStack, WithoutAPatternIsOfOneKind) {
  StackSpec spec = mixed({}, "gate");
  spec.blocks = 2;
  spec.block.mixer.kind = "softmax";
  EXPECT_EQ(block_spec(spec, 1).mixer.kind, "softmax");
  EXPECT_EQ(op_check::error_of([&] { BlockStack stack(spec); }),
            "[softmax] time kernel gate requires linear attention; set it to none or decay");
  spec.pattern = {"softmax", "lineal"};
  EXPECT_THAT(op_check::error_of([&] { BlockStack stack(spec); }),
              testing::HasSubstr("no mixer is called \"lineal\""));
}

TEST(BlockStack, OfSeveralMixersIsDifferentiableThroughAllItsParameters) {
  for (const StackSpec& spec : all_mixed()) {
    BlockStack stack(spec);
    randomize(stack, 0.4);
    check_layer(stack, random_tensor({2, 7, 8}, 1),
                [&](Tape& tape, const Var& x) { return stack.forward(tape, x); });
  }
}

TEST(BlockStack, OfSeveralMixersStepsAsThroughTheWholeSequence) {
  for (const StackSpec& spec : all_mixed()) {
    BlockStack stack(spec);
    randomize(stack, 0.3);
    const std::size_t T = 40;
    const Tensor x = random_tensor({1, T, 8}, 1);
    Tape tape({.recording = false});
    const Tensor batch = stack.forward(tape, tape.constant(x)).value();
    BlockStack::State state = stack.start();
    for (std::size_t t = 0; t < T; ++t) {
      Tensor token = uninitialized({1, 1, 8});
      std::copy_n(x.data() + t * 8, 8, token.data());
      const Tensor y = stack.step(tape, tape.constant(std::move(token)), state).value();
      for (std::size_t e = 0; e < 8; ++e)
        ASSERT_NEAR(y.data()[e], batch.data()[t * 8 + e], is_double ? 1e-11 : 5e-5) << t;
    }
  }
}

/// With dropout, whose numbers must be equal in the recomputation.
TEST(BlockStack, OfSeveralMixersIsRecomputedToTheBit) {
  for (StackSpec spec : all_mixed()) {
    std::vector<std::vector<Tensor>> gradients;
    for (bool checkpoint : {false, true}) {
      spec.block.dropout = 0.3, spec.checkpoint = checkpoint;
      BlockStack stack(spec);
      randomize(stack, 0.4);
      gradients.push_back(parameter_gradients(stack, [&](Tape& tape) {
        return stack.forward(tape, tape.input(random_tensor({2, 9, 8}, 1)));
      }));
    }
    for (std::size_t i = 0; i < gradients[0].size(); ++i)
      op_check::expect_equal_bits(gradients[0][i], gradients[1][i]);
  }
}

}  // namespace mixed_stack_test
}  // namespace bochner::inline BOCHNER_PRECISION
