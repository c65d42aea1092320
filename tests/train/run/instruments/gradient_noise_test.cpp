#include <gtest/gtest.h>

#include <bochner/train/run/instruments/gradient_noise.hpp>
#include <bochner/train/storage/json.hpp>
#include <cmath>
#include <limits>

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
  const std::map<std::string, double> got = *gradient_to_noise(*task, 6, 16, count);
  ASSERT_EQ(got.size(), 3u);
  std::vector<std::vector<double>> gradients(count);
  for (std::size_t i = 0; i < count; ++i) {
    Tape tape;
    tape.backward(task->loss(tape, task->data().training(6 + 16 * i, 16)));
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
  const double expected = std::sqrt(std::max(0.0, signal - noise / double(count)) / noise);
  ASSERT_GT(expected, 0);
  EXPECT_NEAR(got.at("blocks.1.mixer"), expected, 1e-5);
}

TEST(GradientToNoise, IsNoZeroWhereItCannotBeMeasured) {
  EXPECT_EQ(signal_to_noise({2, 0}, 2, 2), std::numeric_limits<double>::infinity());  // 1, 1
  EXPECT_EQ(signal_to_noise({0, 0}, 0, 2), 0);
  const double x = 1 + double(std::numeric_limits<real>::epsilon()) / 2;  // 1 with a rounding
  EXPECT_EQ(signal_to_noise({1 + x}, 1 + x * x, 2), std::numeric_limits<double>::infinity());
  EXPECT_NEAR(signal_to_noise({2.0001}, 1 + 1.0001 * 1.0001, 2), 1.00005e4 * std::sqrt(2.0), 1);
  EXPECT_EQ(signal_to_noise({0}, 2, 2), 0);  // 1, -1
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isnan(signal_to_noise({infinite}, infinite, 2)));
  EXPECT_TRUE(std::isnan(signal_to_noise({std::nan("")}, std::nan(""), 2)));
  for (const double number : {infinite, std::nan("")}) {
    const Json line = json_of({KernelMetrics{.layer = "mixer", .gradient_to_noise = number}});
    EXPECT_NE(line.line().find("\"gradient_to_noise\":null"), std::string::npos) << line.line();
  }
}

TEST(GradientToNoise, StopsBetweenBatches) {
  TemporaryFolder folder;
  const Config config =
      tiny_config(folder.write("text", tiny_text()),
                  {"model.mixer.kind=linear", "train.validate.gradients=9", "optim.ema=0.5"});
  const auto task = make_task(config);
  Trainer trainer(config, *task, run_steps);
  trainer.step();
  trainer.step();
  std::vector<Tensor> before;
  for (const NamedTensor& named : trainer.tensors()) before.push_back(*named.tensor);
  std::size_t asked = 0;
  EXPECT_FALSE(trainer.kernels([&] { return ++asked == 2; }).has_value());
  EXPECT_EQ(asked, 2u);
  for (const NamedTensor& named : trainer.tensors()) {
    EXPECT_EQ(*named.tensor, before.front()) << named.name;
    before.erase(before.begin());
  }
  EXPECT_TRUE(trainer.kernels([] { return false; }).has_value());
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
      const std::vector<KernelMetrics> kernels = *trainer.kernels();
      EXPECT_EQ(kernels.at(0).gradient_to_noise.has_value(), std::string("3") == batches);
      EXPECT_EQ(kernels.at(0).heads.size(), 2u);
    }
    for (const NamedTensor& named : trainer.tensors()) tensors.back().push_back(*named.tensor);
  }
  EXPECT_EQ(tensors[0], tensors[1]);
}

/// Of the training batches to come.
TEST(GradientToNoise, OfATrainingIsThatOfItsNextBatches) {
  TemporaryFolder folder;
  const Config config = tiny_config(folder.write("text", tiny_text()),
                                    {"model.mixer.kind=linear", "train.validate.gradients=3"});
  const auto task = make_task(config);
  Trainer trainer(config, *task, run_steps);
  for (int step = 0; step < 3; ++step) trainer.step();
  const KernelMetrics layer = trainer.kernels()->at(0);
  const std::uint64_t next = trainer.state().examples;
  const auto ratios = *gradient_to_noise(*task, next, 2, 3);
  EXPECT_EQ(*layer.gradient_to_noise, ratios.at(layer.layer));
  EXPECT_EQ(*trainer.noise_scale(), 2 / (ratios.at("") * ratios.at("")));
}

}  // namespace gradient_noise_test
}  // namespace bochner
