#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/autodiff/ops/loss.hpp>
#include <bochner/layers/models/token_models.hpp>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace noise_loss_test {

using namespace layer_check;
using op_check::error_of;

constexpr std::size_t V = 30;

LanguageModelSpec small(const std::string& loss) {
  LanguageModelSpec spec;
  spec.vocabulary = V, spec.length = 9, spec.blocks = 1;
  spec.block.width = 8, spec.block.expansion = 1;
  spec.block.mixer.kind = "softmax", spec.block.mixer.heads = 2;
  spec.loss.kind = loss, spec.noise.draws = 50;
  return spec;
}

Indices tokens(std::uint64_t stream) {
  Indices all{{2, 9}, {}};
  const RandomFunction random{7, Purpose::test, stream};
  for (std::size_t i = 0; i < 18; ++i) all.values.push_back(std::int32_t(random.integer(i, V)));
  return all;
}

double loss_of(LanguageModel& model, bool training, std::uint64_t step) {
  PassOptions options;
  options.training = training, options.step = step, options.seed = 1;
  Tape tape(options);
  return double(model.loss(tape, tokens(1), tokens(2)).value().data()[0]);
}

TEST(NoiseLoss, IsOfTrainingOnlyAndAFunctionOfTheStep) {
  LanguageModel exact(small("cross_entropy"));
  randomize(exact, 0.4);
  EXPECT_EQ(exact.noise(), nullptr);
  for (const char* kind : {"nce", "sampled_softmax"}) {
    LanguageModel model(small(kind));
    randomize(model, 0.4);
    EXPECT_EQ(loss_of(model, false, 1), loss_of(model, false, 2));
    EXPECT_EQ(loss_of(model, true, 1), loss_of(model, true, 1));
    EXPECT_NE(loss_of(model, true, 1), loss_of(model, true, 2));
    EXPECT_NE(loss_of(model, true, 1), loss_of(model, false, 1));
  }
}

TEST(NoiseLoss, IsDifferentiableThroughAllParametersOfTheModel) {
  for (const char* kind : {"nce", "sampled_softmax"}) {
    LanguageModel model(small(kind));
    randomize(model, 0.4);
    check_layer(model, random_tensor({1}, 1), [&](Tape& tape, const Var&) {
      tape.training = true;
      return model.loss(tape, tokens(1), tokens(2));
    });
  }
}

/// With many draws the mean loss over steps is near the exact one, for any noise.
TEST(NoiseLoss, ComesNearTheExactLoss) {
  for (const char* kind : {"unigram", "uniform"}) {
    LanguageModelSpec spec = small("sampled_softmax");
    spec.noise.kind = kind, spec.noise.draws = 4000;
    LanguageModel model(spec);
    randomize(model, 0.4);
    std::vector<double> counts(V);
    for (std::size_t j = 0; j < V; ++j) counts[j] = double(j * j);
    model.noise()->count(counts);
    double sum = 0;
    for (std::uint64_t step = 0; step < 20; ++step) sum += loss_of(model, true, step) / 20;
    EXPECT_NEAR(sum, loss_of(model, false, 0), 0.03) << kind;
  }
}

TEST(NoiseLoss, KeepsWhatItIsDrawnFrom) {
  LanguageModel model(small("nce"));
  std::vector<std::string> names;
  for (const NamedTensor& named : buffers_of(model)) names.push_back(named.name);
  EXPECT_EQ(std::count(names.begin(), names.end(), "noise.weights"), 1);
  std::vector<double> counts(V, 3);
  counts[4] = 80;
  model.noise()->count(counts);
  for (const NamedTensor& named : buffers_of(model)) {
    if (named.name != "noise.weights") continue;
    EXPECT_NEAR(named.tensor->data()[4], std::pow(81, 0.75), 1e-4);
    EXPECT_NEAR(named.tensor->data()[5], std::pow(4, 0.75), 1e-4);
  }
  for (const NamedParameter& named : parameters_of(model)) {
    if (named.name != "noise.log_z") continue;
    EXPECT_NEAR(named.parameter->value().data()[0], std::log(double(V)), 1e-5);
  }
}

TEST(NoiseLoss, SaysWhatDoesNotFit) {
  EXPECT_EQ(error_of([] { LanguageModel(small("hinge")); }),
            "[loss] no loss of labels is called \"hinge\"; there are: cross_entropy");
  EXPECT_EQ(error_of([] {
              NoiseLoss("nce", {}, 5).count({1, 2});
            }),
            "[noise_loss] got 2 counts for 5 classes");
}

}  // namespace noise_loss_test
}  // namespace bochner::inline BOCHNER_PRECISION
