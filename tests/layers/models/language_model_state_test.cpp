#include <gtest/gtest.h>

#include <bochner/layers/models/token_models.hpp>

#include "autodiff/op_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace language_model_state_test {

/// A state belongs to the layers of its model.
TEST(LanguageModel, StepsNoStateOfAnotherModel) {
  LanguageModelSpec spec;
  spec.vocabulary = 7, spec.length = 12, spec.block.width = 8;
  spec.block.mixer.kind = "linear", spec.block.mixer.heads = 2;
  LanguageModel linear(spec);
  spec.block.mixer.kind = "softmax";
  LanguageModel softmax(spec);
  LanguageModel::State state = linear.start();
  linear.step(1, state);
  EXPECT_EQ(op_check::error_of([&] { softmax.step(1, state); }),
            "[language_model] the state belongs to another model");
  EXPECT_NO_THROW(linear.step(2, state));
  state = softmax.start();
  EXPECT_NO_THROW(softmax.step(1, state));
}

}  // namespace language_model_state_test
}  // namespace bochner::inline BOCHNER_PRECISION
