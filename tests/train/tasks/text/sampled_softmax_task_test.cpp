#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/train/tasks/task.hpp>
#include <cmath>

#include "train/config_text.hpp"
#include "train/training_run.hpp"

namespace bochner {
namespace noise_task_test {

using testing::HasSubstr;

const std::vector<std::string> sampled = {"model.loss=sampled_softmax", "model.noise.draws=64",
                                          "optim.lr=0.02"};

std::vector<std::string> with(std::vector<std::string> sets, const std::string& more) {
  sets.push_back(more);
  return sets;
}

Tensor noise_of(Task& task) {
  for (const NamedTensor& named : buffers_of(task.model()))
    if (named.name == "noise.weights") return *named.tensor;
  return {};
}

TEST(NoiseTask, DrawsBytesAsOftenAsTheyOccur) {
  TemporaryFolder folder;
  const auto task = make_task(tiny_config(folder.write("text", tiny_text()), sampled));
  task->start();
  const Tensor weights = noise_of(*task);
  ASSERT_EQ(weights.size(), 256u);
  EXPECT_EQ(weights.data()['~'], 1);
  // One "l" in each "line ", of which the text to train has some fifty.
  EXPECT_GT(weights.data()['l'], std::pow(20., 0.75));
  EXPECT_GT(weights.data()['n'], weights.data()['\n']);
  const auto uniform = make_task(
      tiny_config(folder.write("text", tiny_text()), with(sampled, "model.noise.kind=uniform")));
  uniform->start();
  EXPECT_EQ(noise_of(*uniform), filled({256}, 1));
}

TEST(NoiseTask, DrawsTypesOfEventsAndAnswersToo) {
  for (const char* kind : {"hawkes", "recall"}) {
    const auto task = make_task(tiny_config(
        "unused", with(with(sampled, std::string("data.kind=") + kind), "data.length=20")));
    task->start();
    const Tensor weights = noise_of(*task);
    double sum = 0;
    for (const real weight : weights) sum += double(weight);
    EXPECT_GT(sum, 2. * double(weights.size())) << kind;
    Tape tape;
    tape.training = true;
    EXPECT_TRUE(std::isfinite(task->loss(tape, task->data().training(0, 2)).value().data()[0]));
  }
}

/// Training uses noise, and learns the whole vocabulary.
TEST(NoiseTask, LearnsWhatTheExactLossMeasures) {
  for (const char* loss : {"cross_entropy", "sampled_softmax", "nce"}) {
    TemporaryFolder folder;
    std::vector<std::string> sets = {std::string("model.loss=") + loss, "optim.lr=0.02"};
    if (sets[0] != "model.loss=cross_entropy") sets.push_back("model.noise.draws=200");
    const Config config = tiny_config(folder.write("text", tiny_text()), sets);
    const auto task = make_task(config);
    task->start();
    const double before = evaluate_task(*task, Split::validation, 2)->loss();
    EXPECT_NEAR(before, std::log(256.), 0.3) << loss;
    train(config, *task, 150);
    EXPECT_LT(evaluate_task(*task, Split::validation, 2)->loss(), 3.3) << loss;
  }
}

TEST(NoiseTask, KeysThatDoNotFitAreRefused) {
  const auto error = [](const std::vector<std::string>& sets) {
    return message_of<ConfigError>([&] { tiny_config("text", sets); });
  };
  EXPECT_THAT(error({"model.loss=sampled_softmix"}),
              HasSubstr("Did you mean \"sampled_softmax\"?"));
  EXPECT_THAT(
      error({"model.loss=mae"}),
      HasSubstr("model.loss = \"mae\": needs model.kind = \"forecaster\" or \"regressor\""));
  EXPECT_THAT(error({"model.kind=classifier", "data.kind=listops", "model.loss=nce"}),
              HasSubstr("model.loss = \"nce\": needs model.kind = \"lm\""));
  EXPECT_THAT(error({"model.noise.draws=20"}),
              HasSubstr("model.noise.draws has no effect with model.loss = \"mse\"; remove it"));
  EXPECT_THAT(
      error({"model.loss=nce", "model.noise.kind=uniform", "model.noise.power=1"}),
      HasSubstr("model.noise.power has no effect with model.noise.kind = \"uniform\"; remove it"));
  EXPECT_THAT(error({"model.loss=nce", "model.noise.draws=0"}),
              HasSubstr("model.noise.draws = 0: must be between 1 and"));
  EXPECT_THAT(
      error({"optim.natural.trust=2"}),
      HasSubstr("optim.natural.trust has no effect with optim.kind = \"adamw\"; remove it"));
  EXPECT_THAT(error({"optim.kind=natural", "optim.density_natural=true"}),
              HasSubstr("must be false with optim.kind = \"natural\""));
}

}  // namespace noise_task_test
}  // namespace bochner
