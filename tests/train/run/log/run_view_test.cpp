#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/train/run/log/run_view.hpp>

#include "data/temporary_folder.hpp"
#include "train/run/written_run.hpp"

namespace bochner {
namespace run_view_test {

using testing::ElementsAre;
using testing::HasSubstr;

struct RunViews : testing::Test {
  TemporaryFolder folder;
  PosixStorage storage;
  Path path = folder.path() / "run";
  RunView view{storage, path};

  WrittenRun begin(const std::vector<std::string>& sets = {"train.steps=100"}) {
    return WrittenRun(storage, path, sets);
  }
};

TEST_F(RunViews, FollowARunFromBeforeItsBeginning) {
  EXPECT_FALSE(view.refresh());
  EXPECT_EQ(view.phase(), RunPhase::missing);
  WrittenRun run = begin();
  EXPECT_TRUE(view.refresh());
  EXPECT_EQ(view.phase(), RunPhase::stopped) << "nobody holds its lock";
  EXPECT_EQ(view.setting("train.steps"), "100");
  EXPECT_FALSE(view.refresh());
  {
    const auto lock = storage.lock(path / "run.lock");
    EXPECT_TRUE(view.refresh());
    EXPECT_EQ(view.phase(), RunPhase::training);
    run.train(10, 3, 2);
    run.train(20, 2, 4);
    EXPECT_TRUE(view.refresh());
    EXPECT_THAT(view.curve("loss").y, ElementsAre(3, 2));
    EXPECT_EQ(view.step(), 20);
    EXPECT_DOUBLE_EQ(view.progress(), 0.2);
  }
  run.train(100, 1, 20);
  EXPECT_TRUE(view.refresh());
  EXPECT_EQ(view.phase(), RunPhase::done);
}

TEST_F(RunViews, KnowTheTimeOfAnyStep) {
  WrittenRun run = begin();
  EXPECT_FALSE(view.seconds_at(10));
  run.train(10, 3, 2);
  view.refresh();
  EXPECT_DOUBLE_EQ(view.seconds_at(5).value(), 1);
  EXPECT_DOUBLE_EQ(view.seconds_at(20).value(), 4);
  run.train(20, 3, 6);
  view.refresh();
  EXPECT_DOUBLE_EQ(view.seconds_at(10).value(), 2);
  EXPECT_DOUBLE_EQ(view.seconds_at(15).value(), 4);
  EXPECT_DOUBLE_EQ(view.seconds_at(30).value(), 10);
}

TEST_F(RunViews, ForgetWhatAResumeCutsAway) {
  WrittenRun run = begin();
  run.train(10, 3, 2);
  run.train(20, 2, 4);
  view.refresh();
  storage.open_append(path / "metrics.jsonl")->truncate(0);
  storage.open_append(path / clock_name)->truncate(0);
  run.train(10, 3, 2);
  EXPECT_TRUE(view.refresh());
  EXPECT_THAT(view.curve("loss").x, ElementsAre(10));
  EXPECT_THAT(view.clock("seconds").y, ElementsAre(2));
}

TEST_F(RunViews, LeaveDamagedLinesOutAndNameTheFirst) {
  WrittenRun run = begin();
  run.train(10, 3, 2);
  run.append("metrics.jsonl", "{\"step\":2");
  run.append("metrics.jsonl", "\1");
  run.train(30, 1, 6);
  view.refresh();
  EXPECT_THAT(view.problem(), HasSubstr("metrics.jsonl:2: not a line of metrics"));
  EXPECT_THAT(view.curve("loss").y, ElementsAre(3, 1));
}

TEST_F(RunViews, MeasureProgressInTheUnitOfTheSteps) {
  WrittenRun run = begin({"train.steps=2e"});
  run.train(10, 3, 2);
  view.refresh();
  EXPECT_DOUBLE_EQ(view.progress(), 0.25) << "half an epoch of two";
  begin({"train.steps=1kt"});
  view.refresh();
  EXPECT_DOUBLE_EQ(view.progress(), 0.1) << "100 tokens of 1000";
}

TEST_F(RunViews, TakeTheLastWordsOfTheConsole) {
  WrittenRun run = begin();
  run.train(10, 3, 2);
  run.append(console_name, "done     step 10, no improvement in 3 validations");
  view.refresh();
  EXPECT_EQ(view.phase(), RunPhase::done);
  run.append(console_name, "resumed  step 10");
  view.refresh();
  EXPECT_EQ(view.phase(), RunPhase::stopped);
}

TEST_F(RunViews, AreFoundInADirectoryOfThem) {
  begin();
  WrittenRun(storage, folder.path() / "a", {});
  commit_file(storage, folder.path() / "a.log", "");
  EXPECT_THAT(runs_in(storage, folder.path()), ElementsAre(folder.path() / "a", path));
  EXPECT_THAT(runs_in(storage, path), ElementsAre(path));
  EXPECT_TRUE(runs_in(storage, folder.path() / "nothing").empty());
}

}  // namespace run_view_test
}  // namespace bochner
