#include <bochner/layers/models/step_error.hpp>
#include <bochner/layers/models/token_models.hpp>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace step_error_test {

using namespace layer_check;

LanguageModelSpec spec() {
  LanguageModelSpec spec;
  spec.vocabulary = 7, spec.length = 9, spec.blocks = 1;
  spec.block.width = 8;
  spec.block.mixer.heads = 2;
  return spec;
}

const Indices texts{{2, 9}, {1, 2, 3, 4, 5, 6, 0, 1, 2, 2, 4, 6, 1, 3, 5, 0, 0, 1}};

TEST(StepError, IsThatOfRounding) {
  LanguageModel model(spec());
  randomize(model, 0.3);
  EXPECT_LT(step_error(model, texts), is_double ? 1e-13 : 1e-5);
}

/// Steps differ from the batch.
struct Doubled : LanguageModel {
  using LanguageModel::LanguageModel;
  Tensor step(const std::vector<std::int32_t>& tokens, State& state) {
    Tensor y = LanguageModel::step(tokens, state);
    y.data()[3] *= 2;
    return y;
  }
};

/// The batch sees the next token.
struct Foreseeing : LanguageModel {
  using LanguageModel::LanguageModel;
  Var logits(Tape& tape, Indices tokens) {
    std::rotate(tokens.values.begin(), tokens.values.begin() + 1, tokens.values.end());
    return LanguageModel::logits(tape, tokens);
  }
};

TEST(StepError, FindsAStepOrAPassThatIsWrong) {
  Doubled doubled(spec());
  randomize(doubled, 0.3);
  EXPECT_GT(step_error(doubled, texts), 1e-2);
  Foreseeing foreseeing(spec());
  randomize(foreseeing, 0.3);
  EXPECT_GT(step_error(foreseeing, texts), 1e-2);
}

}  // namespace step_error_test
}  // namespace bochner::inline BOCHNER_PRECISION
