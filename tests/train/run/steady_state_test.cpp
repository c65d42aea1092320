#include <gtest/gtest.h>

#include <bochner/base/pool.hpp>

#include "train/training_run.hpp"

namespace bochner {
namespace steady_state_test {

struct SteadyState : testing::TestWithParam<const char*> {};

TEST_P(SteadyState, RequestsNoMemoryFromTheThirdStepOn) {
  TemporaryFolder folder;
  const Config config = tiny_config(folder.write("text", tiny_text()),
                                    {std::string("model.mixer.kind=") + GetParam(),
                                     "model.blocks=2", "model.mixer.time_kernel=decay",
                                     "model.dropout=0.1", "optim.ema=0.9", "train.accumulate=2"});
  const auto task = make_task(config);
  Trainer trainer(config, *task, run_steps);
  for (int step = 0; step < 2; ++step) trainer.step();
  const std::size_t blocks = tensor_pool::statistics().blocks_requested;
  for (int step = 2; step < 22; ++step) {
    trainer.step();
    ASSERT_EQ(tensor_pool::statistics().blocks_requested, blocks) << "step " << step + 1;
  }
}

INSTANTIATE_TEST_SUITE_P(Mixers, SteadyState, testing::Values("linear", "softmax"),
                         [](const auto& mixer) { return std::string(mixer.param); });

}  // namespace steady_state_test
}  // namespace bochner
