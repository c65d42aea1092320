#include <algorithm>
#include <bochner/layers/models/token_models.hpp>
#include <cmath>

#include "layers/layer_check.hpp"
#include "layers/models/random_tokens.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace token_head_test {

using namespace layer_check;

TEST(TokenHead, AddsSmoothingAndZLossInTraining) {
  LanguageModelSpec spec;
  spec.vocabulary = 7, spec.length = 9, spec.blocks = 1, spec.block.width = 8;
  spec.block.mixer.heads = 2;
  spec.head = {.logit_cap = 1.5, .z_loss = 0.25, .label_smoothing = 0.5};
  LanguageModel model(spec);
  randomize(model, 0.4);
  const Indices text = tokens(2, 9, 1);
  Indices targets = tokens(2, 9, 2);
  targets.values[4] = -1;
  Tape tape({.training = true, .recording = false}), evaluation({.recording = false});
  const Tensor logits = model.logits(tape, text).value();
  double smooth = 0, plain = 0, squares = 0;
  for (std::size_t i = 0; i < 18; ++i) {
    const real* row = logits.data() + 7 * i;
    EXPECT_LT(std::abs(*std::max_element(row, row + 7)), 1.5);
    if (i == 4) continue;
    double sum = 0, mean = 0;
    for (std::size_t v = 0; v < 7; ++v) sum += std::exp(double(row[v])), mean += double(row[v]) / 7;
    const double z = std::log(sum), own = double(row[targets.values[i]]);
    plain += z - own, smooth += z - (own + mean) / 2, squares += z * z;
  }
  EXPECT_NEAR(model.loss(evaluation, text, targets).value()(), plain / 17, 1e-5);
  EXPECT_NEAR(model.loss(tape, text, targets).value()(), (smooth + squares / 4) / 17, 1e-5);
}

}  // namespace token_head_test
}  // namespace bochner::inline BOCHNER_PRECISION
