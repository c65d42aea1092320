#include <gmock/gmock.h>

#include <bochner/train/sweep/journal.hpp>
#include <filesystem>
#include <fstream>

#include "data/messages.hpp"

namespace bochner {
namespace sweep_journal_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Journal : public ::testing::Test {
 protected:
  Journal()
      : path_(std::filesystem::temp_directory_path() / ("journal-" + std::to_string(getpid()))) {
    std::filesystem::remove_all(path_);
  }
  ~Journal() override { std::filesystem::remove_all(path_); }

  SweepJournal open() { return SweepJournal::open(storage_, path_, header_); }
  std::string text() { return read_file(storage_, path_ / "sweep.jsonl"); }
  void append(const std::string& text) {
    std::ofstream(path_ / "sweep.jsonl", std::ios::app) << text;
  }

  PosixStorage storage_;
  Path path_;
  SweepHeader header_{.search = SearchKind::bayes,
                      .seed = 3,
                      .vary = {"optim.lr=1e-4..1e-2:log", "m=1,2"},
                      .rungs = {10, 30, 90},
                      .factor = 3};
};

TEST_F(Journal, TellsWhatItWasTold) {
  {
    SweepJournal journal = open();
    journal.start("trial-0000", {"0.001", "2"});
    journal.start("trial-0001", {"0.002", "1"});
    journal.start("trial-0002", {"0.003", "1"});
    journal.reached(0, 10, {2.5}, 1.5);
    journal.promoted(0);
    journal.failed(1, "exit code 1", 2);
    journal.reached(0, 30, {2.25}, 3);
    journal.reached(2, 10, {0.1}, 4);
    journal.promoted(2);
    journal.done(2, 20, {0.05}, 5);  // without hope to improve
  }
  const SweepJournal journal = open();
  ASSERT_EQ(journal.trials().size(), 3u);
  EXPECT_THAT(journal.trials()[0].values, ElementsAre("0.001", "2"));
  EXPECT_THAT(journal.trials()[0].measured, ElementsAre(ElementsAre(2.5), ElementsAre(2.25)));
  EXPECT_FALSE(journal.trials()[0].is_open());
  EXPECT_EQ(journal.trials()[1].failed, "exit code 1");
  EXPECT_EQ(journal.seconds(), 5);
  EXPECT_THAT(journal.best(), ElementsAre(2));
  const std::vector<TrialProgress> progress = journal.progress();
  EXPECT_THAT(progress[0].scores, ElementsAre(2.5, 2.25));
  EXPECT_TRUE(progress[0].waits);
  EXPECT_TRUE(std::isnan(progress[1].scores.back()));
  EXPECT_THAT(progress[2].scores, ElementsAre(0.1, 0.05, 0.05));
  EXPECT_FALSE(progress[2].waits);
}

TEST_F(Journal, CountsTheTimeOfWhatWasStopped) {
  {
    SweepJournal journal = open();
    journal.start("trial-0000", {"0.001", "2"});
    journal.stopped(7.5);
  }
  EXPECT_EQ(open().seconds(), 7.5);
  EXPECT_TRUE(open().trials()[0].is_open());
  open().reached(0, 10, {1}, 9);
  EXPECT_EQ(open().seconds(), 9);
}

TEST_F(Journal, HasTheBestOfMeansOverSeeds) {
  header_ = {.vary = {"m=1,2", "train.seed=1,2"}, .goals = {parse_goal("accuracy.max")}};
  SweepJournal journal = open();
  const double measured[] = {0.9, 0.1, 0.6, 0.5};  // the best single run is of m = 1
  for (std::size_t i = 0; i < 4; ++i) {
    journal.start("run" + std::to_string(i), {i < 2 ? "1" : "2", i % 2 == 0 ? "1" : "2"});
    journal.done(i, 5, {measured[i]}, 1);
  }
  ASSERT_EQ(journal.best_groups().size(), 1u);
  EXPECT_THAT(journal.best_groups()[0].trials, ElementsAre(2, 3));
  EXPECT_DOUBLE_EQ(journal.best_groups()[0].means[0], 0.55);
  EXPECT_THAT(journal.best(), ElementsAre(2, 3));
  write_sweep_page(storage_, journal);
  const std::string html = read_file(storage_, sweep_page(path_));
  EXPECT_NE(html.find(">0.55<"), html.npos);
  EXPECT_NE(html.find("accuracy of the seeds of run2"), html.npos);
}

// Patience may end a trial that has passed few rungs.
TEST_F(Journal, IsShownWithTheBestOfAllThatAreDoneOnTop) {
  SweepJournal journal = open();
  for (const char* name : {"waits", "whole", "early"}) journal.start(name, {"0.001", "1"});
  journal.reached(0, 10, {0.5}, 1);
  for (const std::uint64_t step : {10, 30}) {
    journal.reached(1, step, {3}, 2);
    journal.promoted(1);
  }
  journal.done(1, 90, {2}, 3);
  journal.done(2, 7, {1}, 4);
  write_sweep_page(storage_, journal);
  const std::string html = read_file(storage_, sweep_page(path_));
  const std::size_t early = html.find("<td>early<"), whole = html.find("<td>whole<");
  ASSERT_NE(early, html.npos);
  EXPECT_LT(early, whole);
  EXPECT_LT(whole, html.find("<td>waits<"));
}

TEST_F(Journal, IsShownOnAnAxisThatReachesAllWhereHalfTie) {
  header_.rungs = {}, header_.factor = 0;
  SweepJournal journal = open();
  const double measured[] = {1, 1, 1, 5, 9};
  for (std::size_t i = 0; i < std::size(measured); ++i) {
    journal.start("trial" + std::to_string(i), {"0.001", "1"});
    journal.done(i, 90, {measured[i]}, 1);
  }
  write_sweep_page(storage_, journal);
  std::string chart = read_file(storage_, sweep_page(path_));
  chart = chart.substr(chart.find("Trials in order"));
  chart = chart.substr(0, chart.find("</svg>"));
  EXPECT_NE(chart.find(">8</text>"), chart.npos) << chart;
}

TEST_F(Journal, IsShownInATableThatTellsWhatItLacks) {
  header_ = {.vary = {"m=1..201"}};
  SweepJournal journal = open();
  for (std::size_t i = 0; i < 201; ++i) journal.start("m=" + std::to_string(i + 1), {"1"});
  write_sweep_page(storage_, journal);
  EXPECT_NE(read_file(storage_, sweep_page(path_)).find("The best 200 of 201;"), std::string::npos);
}

TEST_F(Journal, CutsALineThatIsTorn) {
  open().start("trial-0000", {"0.001", "2"});
  const std::string before = text();
  append(R"({"event":"done","trial":0,"st)");
  EXPECT_TRUE(open().trials()[0].is_open());
  EXPECT_EQ(text(), before);
}

TEST_F(Journal, RefusesWhatItDidNotWrite) {
  const char* lines[] = {"x",
                         "{}",
                         R"({"event":"done","trial":0,"step":1,"measured":[1]})",
                         R"({"event":"done","trial":-1,"step":1,"measured":[1]})",
                         R"({"event":"done","trial":1e300,"step":1,"measured":[1]})",
                         R"({"event":"start","trial":7,"name":"x","values":[]})",
                         R"({"event":"start","trial":0})",
                         R"({"event":"start","trial":0,"name":"x","values":["1"]})",
                         R"({"event":"start","trial":0,"name":"../x","values":["1","2"]})",
                         R"({"event":"sweep","search":"bayes","seed":3,"vary":["m=1"],"goals":[]})",
                         R"({"event":"sweep","search":"best"})"};
  for (const char* line : lines) {
    std::filesystem::remove_all(path_);
    open();
    append(std::string(line) + "\n");
    EXPECT_THROW(open(), DataError) << line;
  }
}

TEST_F(Journal, RefusesAnotherSearch) {
  open();
  header_.factor = 4;
  EXPECT_THROW(open(), std::invalid_argument);
}

TEST_F(Journal, IsOfOneSweepAtATime) {
  const SweepJournal first = open();
  EXPECT_THROW(open(), InUseError);
  EXPECT_THAT(SweepJournal::read(storage_, path_).trials(), IsEmpty());
}

TEST_F(Journal, OfAGridTakesMoreValues) {
  header_ = {.vary = {"m=1,2"}};
  open().start("m=1", {"1"});
  header_.vary = {"m=1,2,3"};
  open();
  EXPECT_THAT(open().header().vary, ElementsAre("m=1,2,3"));
  EXPECT_EQ(open().trials().size(), 1u);
  header_.vary = {"m=1,2", "train.seed=1,2"};
  EXPECT_EQ(message_of<std::invalid_argument>([&] { open(); }),
            path_.string() +
                ": was made with --vary [\"m\"], not [\"m\",\"train.seed\"]; choose "
                "another --runs DIR");
}

// Its page has no importance of keys, and nothing is best.
TEST_F(Journal, OfAGridMayHoldTrialsWithoutAScore) {
  header_ = {.vary = {"m=1..12"}};
  SweepJournal journal = open();
  for (std::size_t i = 0; i < 12; ++i) {
    journal.start("m=" + std::to_string(i + 1), {std::to_string(i + 1)});
    journal.done(i, 5, {NAN}, 1);
  }
  EXPECT_THAT(journal.best(), IsEmpty());
  const Space space({parse_variation("m=1..12")});
  EXPECT_FALSE(surrogate_of({}, space, journal.tried()));
}

TEST(Goal, IsTheLowestOrTheHighestNumber) {
  const std::string metrics =
      "{\"step\":5,\"valid\":2.5,\"accuracy\":0.25}\n{\"step\":9,\"loss\":1}\n"
      "{\"step\":10,\"valid\":1.5,\"accuracy\":0.5}\n{\"step\":15,\"valid\":1.75}\n";
  const std::vector<Goal> goals{parse_goal("valid.min"), parse_goal("accuracy.max"),
                                parse_goal("bits.min")};
  const std::vector<double> all = measure(goals, metrics), early = measure(goals, metrics, 9);
  EXPECT_EQ(all[0], 1.5);
  EXPECT_EQ(all[1], 0.5);
  EXPECT_TRUE(std::isnan(all[2]));
  EXPECT_EQ(early[0], 2.5);
  EXPECT_THAT(scores_of({goals[0], goals[1]}, {1.5, 0.5}), ElementsAre(1.5, -0.5));
  EXPECT_THROW(parse_goal("valid"), std::invalid_argument);
  EXPECT_THROW(parse_goal(".min"), std::invalid_argument);
  EXPECT_THROW(parse_goal("valid.min,bits.min"), std::invalid_argument);
}

}  // namespace sweep_journal_test
}  // namespace bochner
