#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/format.hpp>
#include <bochner/train/commands/compare/comparison.hpp>
#include <bochner/train/storage/json.hpp>
#include <numbers>

#include "data/temporary_folder.hpp"
#include "train/run/written_run.hpp"
#include "train/well_formed.hpp"

namespace bochner {
namespace compare_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct Compare : testing::Test {
  TemporaryFolder folder;
  PosixStorage storage;
  std::deque<RunView> views;

  WrittenRun run(const std::string& name, std::vector<std::string> sets) {
    sets.push_back("train.steps=40");
    return WrittenRun(storage, folder.path() / name, sets);
  }
  /// Writes a run with ten tokens and half a second per step, and losses that end at `last`.
  void trained(const std::string& name, const std::vector<std::string>& sets, double last) {
    WrittenRun one = run(name, sets);
    for (int step = 10; step <= 40; step += 10) {
      one.train(step, last + 4 - step / 10, step * 0.5);
      if (step >= 20) one.validate(step, last + (40 - step) / 10, ",\"bits_per_token\":2");
    }
  }
  void look() {
    views.clear();
    for (const Path& path : runs_in(storage, folder.path()))
      views.emplace_back(storage, path).refresh();
  }
  /// Returns the JSON lines of all runs.
  std::vector<Json> lines(std::optional<double> goal = {}) {
    look();
    std::vector<Json> lines;
    for_each_line(Comparison(views, goal).json(),
                  [&](std::string_view line, std::size_t) { lines.push_back(Json::parse(line)); });
    return lines;
  }
  std::string notes() {
    look();
    std::string all;
    const Comparison comparison(views);
    for (const std::string& note : comparison.notes()) all += note + "\n";
    return all;
  }
};

TEST_F(Compare, GroupsRunsThatDifferInTheSeedOnly) {
  trained("lr=1,seed=1", {"optim.lr=1", "train.seed=1"}, 1.0);
  trained("lr=1,seed=2", {"optim.lr=1", "train.seed=2"}, 1.2);
  trained("lr=2,seed=1", {"optim.lr=2", "train.seed=1"}, 0.9);
  const std::vector<Json> groups = lines();
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(*groups[0]["name"].text(), "lr=2,seed=1") << "the best one comes first";
  EXPECT_EQ(*groups[1]["name"].text(), "lr=1");
  EXPECT_EQ(groups[1]["runs"].items().size(), 2u);
  EXPECT_EQ(groups[1]["runs"].items()[1]["seed"].number(), 2);
  EXPECT_EQ(*groups[1]["set"]["optim.lr"].text(), "1.0");
  EXPECT_EQ(groups[1]["set"].members().size(), 1u) << "steps and files are the same";
  EXPECT_NEAR(groups[1]["best"]["mean"].number().value(), 1.1, 1e-6);
  // Student's t with one degree of freedom: 12.706 * 0.1414 / sqrt(2).
  EXPECT_NEAR(groups[1]["best"]["half_width"].number().value(), 1.2706, 1e-3);
  EXPECT_FALSE(groups[0]["best"]["half_width"].number());
}

TEST_F(Compare, NamesGroupsApart) {
  for (int seed = 1; seed <= 4; ++seed) {
    const std::string at = std::to_string(seed);
    trained("elu,seed=" + at, {"train.seed=" + at, seed < 3 ? "optim.lr=1" : "optim.lr=2"}, 1);
    trained("s" + at, {"train.seed=" + at, "optim.lr=3"}, 2);
  }
  const std::vector<Json> groups = lines();
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(*groups[0]["name"].text(), "elu,seed=1 … elu,seed=2");
  EXPECT_EQ(*groups[1]["name"].text(), "elu,seed=3 … elu,seed=4");
  EXPECT_EQ(*groups[2]["name"].text(), "s1 … s4");
}

TEST_F(Compare, MeasuresTimeAndBits) {
  trained("a", {"optim.lr=1"}, 1.0);
  trained("b", {"optim.lr=2"}, 1.5);
  const std::vector<Json> groups = lines();
  const Json& a = groups[0];
  EXPECT_EQ(a["seconds"]["mean"].number(), 20);
  EXPECT_EQ(a["tokens_per_second"]["mean"].number(), 20);
  EXPECT_EQ(a["best_step"]["mean"].number(), 40);
  EXPECT_EQ(a["memory"]["mean"].number(), 1000040);
  EXPECT_NEAR(a["bits_per_second"]["mean"].number().value(), 3 / std::numbers::ln2 / 15, 1e-9);
  EXPECT_EQ(a["goal"].number(), 1.5) << "both come so far";
  EXPECT_EQ(a["seconds_to"]["mean"].number(), 20) << "by a validation, 2 at step 30 and 1 at 40";
  EXPECT_EQ(groups[1]["seconds_to"]["mean"].number(), 20);
  EXPECT_EQ(lines(3)[0]["seconds_to"]["mean"].number(), 10);
  EXPECT_EQ(lines(1.2)[1]["seconds_to"].number(), std::nullopt) << "b never does";
}

TEST_F(Compare, HasTheMeanOfTheKernelsOfAllLayersInJsonOnly) {
  WrittenRun one = run("one", {});
  one.validate(10, 2, R"(,"kernels":[{"layer":"a","drift":0.25}])");
  one.validate(20, 1, R"(,"kernels":[{"layer":"a","drift":0.5},{"layer":"b","drift":1}])");
  EXPECT_EQ(lines()[0]["kernel_drift"]["mean"].number(), 0.75);
  EXPECT_THAT(Comparison(views).text(), Not(HasSubstr("drift")));
}

TEST_F(Compare, KeepsRunsOfOneSeedApart) {
  trained("a", {}, 1.0);
  trained("b", {}, 1.0);
  EXPECT_EQ(lines().size(), 2u);
}

TEST_F(Compare, SaysWhereLossesAreNotComparable) {
  trained("a", {}, 1.0);
  trained("b", {"data.files=['other']"}, 1.0);
  EXPECT_THAT(notes(), HasSubstr("data.files"));
  EXPECT_FALSE(lines()[0]["goal"].number());
  EXPECT_EQ(lines(2)[0]["goal"].number(), 2);
}

TEST_F(Compare, TakesRunsWithoutValidationAndWithoutAnything) {
  run("empty", {"optim.lr=1"});
  WrittenRun short_run = run("short", {"optim.lr=2"});
  short_run.train(10, 3, 2);
  trained("whole", {"optim.lr=3"}, 1.0);
  const std::vector<Json> groups = lines();
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(*groups[0]["name"].text(), "whole");
  EXPECT_FALSE(groups[1]["loss"].is_object());
  EXPECT_EQ(groups[2]["loss"]["mean"].number(), 3);
  EXPECT_FALSE(groups[2]["tokens_per_second"].is_object());
  const std::string table = Comparison(views).text();
  EXPECT_THAT(table, HasSubstr("| whole | done | 40 | 1 | 1 |"));
  EXPECT_THAT(table, HasSubstr("| short | stopped | 10 | 3 |  |"));
}

TEST_F(Compare, WritesAPageThatIsWellFormed) {
  for (int i = 0; i < 12; ++i)
    trained("run<" + std::to_string(i), {"optim.lr=" + std::to_string(i + 1)}, 2 + i);
  trained("seed=1", {"train.seed=1"}, 1.0);
  trained("seed=2", {"train.seed=2"}, 1.1);
  look();
  const std::string html = Comparison(views).page("<runs>").html();
  EXPECT_EQ(xml_problem(html), "");
  EXPECT_THAT(html, Not(HasSubstr("nan")));
  EXPECT_THAT(html, HasSubstr("Validation loss over time"));
  EXPECT_THAT(html, HasSubstr("6 others"));
  EXPECT_THAT(html, HasSubstr("class=\"band c0\"")) << "the interval of the two seeds";
  EXPECT_THAT(html, HasSubstr("± "));
}

TEST_F(Compare, PutsMeansOfSeedsAtTheStepsThatAllHave) {
  trained("seed=1", {"train.seed=1"}, 1.0);
  WrittenRun other = run("seed=2", {"train.seed=2"});
  other.train(10, 6, 7);
  other.train(25, 5.5, 15.5);
  run("seed=3", {"train.seed=3"});  // not started
  look();
  const RunGroup group = groups_of(views)[0];
  const Series loss = mean_curve(group, "loss", false), timed = mean_curve(group, "loss", true);
  EXPECT_THAT(loss.x, ElementsAre(10, 20, 25));
  EXPECT_THAT(loss.y, ElementsAre(5, testing::DoubleNear((3 + 5.5 + 1 / 6.0) / 2, 1e-12), 4));
  EXPECT_GT(loss.high[0], 15);
  EXPECT_GT(loss.high[2], loss.y[2] + 10) << "of two, by Student's t";
  EXPECT_EQ(timed.x[0], 6);
  EXPECT_EQ(timed.x[2], (12.5 + 15.5) / 2);
}

TEST_F(Compare, DrawsNoIntervalOfASingleRun) {
  trained("seed=1", {"train.seed=1"}, 1.0);
  run("seed=2", {"train.seed=2"});
  look();
  const Series loss = mean_curve(groups_of(views)[0], "loss", false);
  EXPECT_THAT(loss.y, ElementsAre(4, 3, 2, 1));
  EXPECT_THAT(loss.low, IsEmpty());
}

TEST_F(Compare, DrawsTheMeanOfANoisyRun) {
  WrittenRun one = run("one", {});
  for (int step = 1; step <= 2000; ++step) one.train(step, 2 + step % 2, step);
  look();
  const std::string html = Comparison(views).page("runs").html();
  const std::string path = html.substr(html.rfind("<path class=\"curve c0\""));
  EXPECT_EQ(std::ranges::count(path.substr(0, path.find("/>")), 'L'), 333) << "334 pieces of 6";
}

TEST_F(Compare, ShowsTheEndOfALongFall) {
  WrittenRun one = run("one", {});
  for (int step = 1; step <= 100; ++step) one.train(step, 1 + 9.0 / step, step);
  look();
  const std::string html = Comparison(views).page("runs").html();
  EXPECT_THAT(html, HasSubstr("the top of the initial drop is cut off"));
  EXPECT_THAT(html, Not(HasSubstr(">8</text>")));
}

TEST_F(Compare, ShowsRunsOfOneValidation) {
  const double losses[] = {2.25, 1.95, 1.89}, seconds[] = {50, 60, 55};
  for (int i = 0; i < 3; ++i)
    run(std::string(1, char('a' + i)), {}).train(40, losses[i], seconds[i]);
  look();
  const std::string html = Comparison(views).page("runs").html();
  EXPECT_THAT(html, Not(HasSubstr("the initial drop")));
}

TEST(Names, AreThoseBelowTheCommonFolder) {
  EXPECT_THAT(short_names({"runs/a", "runs/b"}), ElementsAre("a", "b"));
  EXPECT_THAT(short_names({"runs/a/", "runs/s/b"}), ElementsAre("a", "s/b"));
  EXPECT_THAT(short_names({"runs/a"}), ElementsAre("a"));
  EXPECT_THAT(short_names({"/x/a", "y/../a"})[0], HasSubstr("a"));
  EXPECT_THAT(short_names({}), IsEmpty());
}

TEST(Sparklines, ShowMeansOfPieces) {
  EXPECT_EQ(sparkline({{1, 2, 3, 4}, {8, 6, 1, 1}}, 2), "█▁");
  EXPECT_EQ(sparkline({{1, 2, 3}, {0, 7, 3}}, 8), "▁█▄");
  EXPECT_EQ(sparkline({{1, 2}, {3, 3}}, 8), "▁▁");
  EXPECT_EQ(sparkline({}, 8), "");
}

TEST_F(Compare, ShowsTheTrendOfALongRunWithoutItsStart) {
  WrittenRun one = run("one", {});
  for (int step = 1; step <= 40; ++step) one.train(step, step < 5 ? 100 : 10 - 0.1 * step, step);
  look();
  EXPECT_THAT(line_of(views[0], 4), HasSubstr("  █▆▃▁  "));
}

TEST_F(Compare, WatchesARunAndThoseThatBeginLater) {
  WatchedRuns watched(storage, folder.path());
  EXPECT_FALSE(watched.refresh());
  EXPECT_FALSE(watched.all_done());
  trained("a", {}, 1.0);
  EXPECT_TRUE(watched.refresh());
  EXPECT_TRUE(watched.all_done());
  WrittenRun b = run("b", {});
  const auto lock = storage.lock(b.path() / "run.lock");
  b.train(10, 3, 5);
  b.train(20, 2, 10);
  EXPECT_TRUE(watched.refresh());
  EXPECT_THAT(watched.news(), ElementsAre(1));
  EXPECT_TRUE(watched.any(RunPhase::training));
  EXPECT_FALSE(watched.refresh());
  EXPECT_EQ(line_of(watched.runs()[1], 0), "trains   step 20/40  50 %  loss 2  eta 0:10  20 tok/s");
  EXPECT_THAT(lines_of(watched.runs(), 10, 80, true),
              ElementsAre(HasSubstr("b  trains   step 20/40  50 %  █▁  loss 2"),
                          "a  done     step 40  █▆▃▁  loss 1  valid 1  best 1"));
  EXPECT_THAT(lines_of(watched.runs(), 1, 80, true), ElementsAre("and 2 more"));
  for (const std::string& line : lines_of(watched.runs(), 10, 12, true))
    EXPECT_EQ(character_count(line), 12u);
}

/// Forks of different runs are not one group of seeds.
TEST_F(Compare, KeepsForksOfDifferentRunsApart) {
  for (const char* seed : {"1", "2"}) {
    const std::string name = std::string("seed=") + seed;
    trained(name, {std::string("train.seed=") + seed}, 1.0);
    commit_file(storage, folder.path() / name / "meta.json",
                std::string("{\"format\":1,\"parent\":\"runs/") + seed + "\"}");
  }
  const std::vector<Json> groups = lines();
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(*groups[0]["set"]["forked from"].text(), "runs/1");
}

}  // namespace compare_test
}  // namespace bochner
