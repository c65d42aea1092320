#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/train/run/log/profile.hpp>
#include <thread>

#include "train/training_run.hpp"

namespace bochner {
namespace profile_test {

void sleep_milliseconds(int count) {
  std::this_thread::sleep_for(std::chrono::milliseconds(count));
}

TEST(OpProfile, ChargesTimeBytesAndProductsToTheOpThatNotesThem) {
  OpProfile profile;
  sleep_milliseconds(50);
  profile.step_began();
  sleep_milliseconds(20);
  profile.recorded("slow", 1000);
  const std::vector<real> a(64, 1);
  std::vector<real> c(64);
  gemm(8, 8, 8, {a.data(), 8}, {a.data(), 8}, 0, c.data(), 8);
  profile.went_backward("product", 500);
  profile.recorded("product", 500);
  const auto& slow = profile.entries().at("slow");
  const auto& product = profile.entries().at("product");
  EXPECT_GE(slow.forward, 0.02);
  EXPECT_EQ(slow.backward, 0);
  EXPECT_EQ(slow.operations, 0);
  EXPECT_EQ(slow.bytes, 1000);
  EXPECT_GT(product.backward, 0);
  EXPECT_EQ(product.operations, 2 * 8 * 8 * 8);
  EXPECT_EQ(product.bytes, 1000);
  EXPECT_EQ(product.calls, 2u);
}

/// What is done between two steps, for instance a validation, belongs to no op.
TEST(OpProfile, StartsItsClockWithEveryStep) {
  OpProfile profile;
  profile.step_began();
  profile.recorded("exp", 0);
  sleep_milliseconds(30);
  profile.step_began();
  profile.recorded("exp", 0);
  EXPECT_LT(profile.entries().at("exp").forward, 0.03);
  EXPECT_EQ(profile.steps(), 2u);
}

TEST(OpProfile, ShowsAMeanStepMostExpensiveFirst) {
  OpProfile profile;
  for (int step = 0; step < 2; ++step) {
    profile.step_began();
    profile.recorded("cheap", 8);
    sleep_milliseconds(5);
    profile.recorded("dear", 8);
  }
  const std::string table = profile.table(1e9);
  EXPECT_LT(table.find("dear"), table.find("cheap"));
  EXPECT_THAT(table, ::testing::HasSubstr("% peak"));
  EXPECT_THAT(table, ::testing::Not(::testing::HasSubstr("% triad")));
  EXPECT_THAT(profile.table(1e9, 1e9), ::testing::HasSubstr("% triad"));
  EXPECT_THAT(profile.table(), ::testing::Not(::testing::HasSubstr("% peak")));
  EXPECT_THAT(table, ::testing::ContainsRegex("cheap +1 "));
  const Json json = profile.json();
  EXPECT_EQ(json["steps"].number(), 2);
  const Json::Items& ops = json["ops"].items();
  EXPECT_THAT(ops.at(0)["op"].text(), ::testing::Pointee(std::string("dear")));
  EXPECT_EQ(ops.at(0)["calls"].number(), 2);
  EXPECT_EQ(ops.at(1)["bytes"].number(), 16);
  EXPECT_NEAR(*ops.at(0)["share"].number() + *ops.at(1)["share"].number(), 1, 1e-9);
}

TEST(OpProfile, SeesAllOpsOfTrainingButThoseOfValidation) {
  TemporaryFolder folder;
  const Config config = tiny_config(folder.write("text", tiny_text()));
  const auto task = make_task(config);
  Trainer trainer(config, *task, run_steps);
  OpProfile profile;
  for (int step = 0; step < 3; ++step) trainer.step(&profile);
  const auto before = profile.entries().at("cross_entropy").calls;
  trainer.validate();
  EXPECT_EQ(profile.entries().at("cross_entropy").calls, before);
  EXPECT_EQ(before, 6u);
  EXPECT_EQ(profile.entries().at("optimizer").calls, 3u);
  EXPECT_EQ(profile.steps(), 3u);
}

}  // namespace profile_test
}  // namespace bochner
