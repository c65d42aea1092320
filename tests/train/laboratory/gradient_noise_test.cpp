#include <gtest/gtest.h>

#include <bochner/train/laboratory/gradient_noise.hpp>
#include <cmath>

#include "train/training_run.hpp"

namespace bochner {
namespace gradient_noise_test {

/// Against the mean and the variance of gradients that are all kept.
TEST(GradientToNoise, IsTheRootOfSignalOverNoise) {
  TemporaryFolder folder;
  const Config config =
      tiny_config(folder.write("text", tiny_text()), {"model.mixer.kind=linear", "model.blocks=2"});
  const auto task = make_task(config);
  const std::size_t count = 4;
  const std::map<std::string, double> got = gradient_to_noise(*task, 6, 2, count);
  ASSERT_EQ(got.size(), 2u);
  std::vector<std::vector<double>> gradients(count);
  for (std::size_t i = 0; i < count; ++i) {
    Tape tape;
    tape.backward(task->loss(tape, task->data().training(6 + 2 * i, 2)));
    for (const NamedParameter& named : parameters_of(task->model())) {
      EXPECT_TRUE(named.parameter->has_gradient());
      if (named.name.starts_with("blocks.1.mixer.features.density."))
        for (real g : named.parameter->gradient()) gradients[i].push_back(double(g));
      named.parameter->zero_gradient();
    }
  }
  double signal = 0, noise = 0;
  for (std::size_t k = 0; k < gradients[0].size(); ++k) {
    double mean = 0;
    for (const auto& gradient : gradients) mean += gradient[k] / double(count);
    signal += mean * mean;
    for (const auto& gradient : gradients)
      noise += std::pow(gradient[k] - mean, 2) / double(count - 1);
  }
  EXPECT_NEAR(got.at("blocks.1.mixer"),
              std::sqrt(std::max(0.0, signal - noise / double(count)) / noise), 1e-5);
}

TEST(GradientToNoise, LeavesATrainingAsItIs) {
  TemporaryFolder folder;
  const std::filesystem::path text = folder.write("text", tiny_text());
  std::vector<std::vector<Tensor>> tensors;
  for (const char* batches : {"0", "3"}) {
    const Config config = tiny_config(text, {"model.mixer.kind=linear", "model.mixer.redraw=2",
                                             std::string("train.validate.gradients=") + batches});
    const auto task = make_task(config);
    Trainer trainer(config, *task, run_steps);
    tensors.emplace_back();
    for (std::size_t step = 0; step < 4; ++step) {
      trainer.step();
      const std::vector<KernelMetrics> kernels = trainer.kernels();
      EXPECT_EQ(kernels.at(0).gradient_to_noise.has_value(), std::string("3") == batches);
      EXPECT_EQ(kernels.at(0).heads.size(), 2u);
    }
    for (const NamedTensor& named : trainer.tensors()) tensors.back().push_back(*named.tensor);
  }
  EXPECT_EQ(tensors[0], tensors[1]);
}

}  // namespace gradient_noise_test
}  // namespace bochner
