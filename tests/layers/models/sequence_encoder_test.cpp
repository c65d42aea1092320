#include <bochner/layers/models/contrast_model.hpp>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace sequence_encoder_test {

using namespace layer_check;

/// Padding of values has no effect in attention and in the mean.
TEST(SequenceEncoder, SeesNoPadding) {
  SequenceEncoderSpec spec;
  spec.values = 3;
  spec.trunk.length = 6, spec.trunk.blocks = 1, spec.trunk.positions = "learned";
  spec.trunk.block.width = 8, spec.trunk.block.mixer.heads = 2,
  spec.trunk.block.mixer.kind = "softmax";
  spec.trunk.block.mixer.causal = false;
  SequenceEncoder encoder(spec);
  randomize(encoder);
  Tensor x = random_tensor({2, 6, 3}, 1);
  Tape tape;
  const Tensor once = encoder.forward(tape, {.values = x, .lengths = {4, 6}}).value();
  for (std::size_t t = 4; t < 6; ++t)
    for (std::size_t e = 0; e < 3; ++e) x(0, t, e) += 5;
  const Tensor again = encoder.forward(tape, {.values = x, .lengths = {4, 6}}).value();
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_EQ(once.data()[i], again.data()[i]) << i;
}

}  // namespace sequence_encoder_test
}  // namespace bochner::inline BOCHNER_PRECISION
