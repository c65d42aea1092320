#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/train/run/log/estimate.hpp>
#include <fstream>

#include "train/training_run.hpp"

namespace bochner {
namespace estimate_test {

std::map<std::string, std::string> trained(const Config& config, bool estimated) {
  PosixStorage storage;
  TemporaryFolder folder;
  Session session = Session::start({storage, folder.path() / "run", "test"}, config);
  if (estimated) {
    const TrainingEstimate estimate = estimate_training(session);
    EXPECT_EQ(estimate.steps, session.total_steps());
    EXPECT_GT(estimate.seconds, 0);
    EXPECT_GT(estimate.bytes, count_parameters(session.task().model()) * sizeof(real));
  }
  for (int step = 0; step < 4; ++step) session.trainer().step();
  std::map<std::string, std::string> bytes;
  for (const NamedTensor& named : session.trainer().tensors())
    bytes[named.name].assign(reinterpret_cast<const char*>(named.tensor->data()),
                             named.tensor->size() * sizeof(real));
  return bytes;
}

/// Also of layers that draw, refit, count or calibrate in training.
TEST(Estimate, ChangesNothing) {
  TemporaryFolder folder;
  const auto text = folder.path() / "text";
  std::ofstream(text) << tiny_text();
  for (const std::vector<std::string>& sets : std::vector<std::vector<std::string>>{
           {},
           {"model.dropout=0.2", "model.mixer.kind=softmax"},
           {"model.mixer={ kind = 'linear', heads = 2, features = 'positive', m = 4, redraw = 2 }"},
           {"model.mixer={ kind = 'linear', heads = 2, features = 'hybrid_cluster', m = 4 }"},
           {"model.mixer.kind=mlstm"}}) {
    const Config config = tiny_config(text, sets);
    EXPECT_EQ(trained(config, true), trained(config, false));
  }
}

TEST(Estimate, SaysItInWords) {
  EXPECT_EQ(words_of({2'100'000, 300, 12}), "about 2.10 MB of memory, 0:12 for 300 steps");
}

}  // namespace estimate_test
}  // namespace bochner
