#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/train/commands/loaded_run.hpp>
#include <bochner/train/tasks/events/event_data.hpp>
#include <bochner/train/tasks/fields/sensor_facts.hpp>
#include <bochner/train/tasks/labels/label_data.hpp>
#include <bochner/train/tasks/series/series_data.hpp>
#include <bochner/train/tasks/tables/process_facts.hpp>
#include <bochner/train/tasks/task.hpp>
#include <optional>

#include "data/messages.hpp"
#include "faults/crashing_storage.hpp"
#include "train/training_run.hpp"

namespace bochner {
namespace facts_test {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

std::string repeated(const std::string& row, std::size_t count, std::size_t first = 0) {
  std::string text;
  for (std::size_t i = first; i < first + count; ++i)
    text += fmt::format("{},{}\n", fmt::format(fmt::runtime(row), i), i % 5);
  return text;
}

class RunNames : public testing::Test {
 protected:
  /// Returns config and facts of a run of the present data.
  void begin(const std::vector<std::string>& sets) {
    config_ = tiny_config(file_, sets);
    known_.bytes = make_task(*config_)->learner().facts();
  }
  /// Returns the facts of a task on the present data.
  template <class Facts>
  Facts facts(bool extends = true) const {
    const auto task = make_task(*config_, {known_.bytes, extends});
    return decode_facts<Facts>(task->learner().facts());
  }
  void write(const std::string& text) const { folder_.write("table.csv", text); }
  std::string problem() const {
    return message_of<DataError>([&] { make_task(*config_, known_); });
  }

  /// Returns a run of this config.
  void train(const Config& config) {
    Session session = Session::start({storage_, run_, "test"}, config);
    run_leg(session, 1);
  }

  std::optional<Config> config_;
  KnownFacts known_;
  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "table.csv", run_ = folder_.path() / "run";
  PosixStorage storage_;
};

const std::string events = "time,type,rest\n", buys = repeated("{},buy", 20),
                  views = repeated("{},view", 20, 20), sales = repeated("{},sell", 20, 40);

TEST_F(RunNames, OfTypesAreThoseOfTheirNumbers) {
  write(events + buys + views);
  begin({"model.kind=events", "data.kind=event_files"});
  EXPECT_THAT(facts<EventFacts>().table.types, ElementsAre("buy", "view"));
  for (const std::string& others : {events + repeated("{},view", 20) + repeated("{},buy", 20, 20),
                                    events + repeated("{},view", 20)}) {
    write(others);
    const auto task = make_task(*config_, known_);
    EXPECT_THAT(facts<EventFacts>(false).table.types, ElementsAre("buy", "view"));
    EXPECT_EQ(task->arrays(task->data().in_order(Split::train, 0, 1))[0].second(0, 0), 1);
  }
  write(events + buys + views + sales);
  EXPECT_THAT(problem(), HasSubstr("the model does not know the type \"sell\""));
}

TEST_F(RunNames, OfLabelsAreThoseOfTheirNumbers) {
  write("text,label,rest\n" + repeated("awful {},bad", 20) + repeated("nice {},good", 20));
  begin({"model.kind=classifier", "data.kind=texts", "data.label_column=label",
         "model.positions=none"});
  EXPECT_THAT(facts<LabelFacts>().labels, ElementsAre("bad", "good"));
  write("text,label,rest\n" + repeated("awful {},poor", 20) + repeated("nice {},good", 20));
  EXPECT_THAT(facts<LabelFacts>().labels, ElementsAre("bad", "good", "poor"));
  EXPECT_THAT(problem(), HasSubstr("the model does not know the label \"poor\""));
}

TEST_F(RunNames, OfSeriesAndOfTheirCovariatesAreThoseOfTheirNumbers) {
  const std::string header = "x,shop,holiday,y\n";
  const std::string north = repeated("{0},north,none", 40) + repeated("{0},north,easter", 40),
                    south = repeated("{0},south,easter", 40) + repeated("{0},south,none", 40);
  write(header + north + south);
  begin({"model.kind=forecaster", "data.kind=series", "data.series=shop", "data.known=holiday",
         "data.lookback=8", "data.horizon=4"});
  const auto learned = facts<SeriesFacts>();
  EXPECT_THAT(learned.names(), ElementsAre("north", "south"));
  EXPECT_THAT(flattened_levels(learned.levels),
              ElementsAre("holiday", "none", "holiday", "easter"));
  EXPECT_THAT(learned.columns, ElementsAre("x", "y"));
  write(header + south + north);
  EXPECT_THAT(facts<SeriesFacts>(false).names(), ElementsAre("north", "south"));
  write(header + south);
  EXPECT_THAT(problem(), HasSubstr("too few rows, or none, for the series \"north\""));
}

TEST_F(RunNames, OfColumnsOfATable) {
  write("a,b,y\n" + repeated("{0},1", 20));
  begin({"model.kind=gp", "data.kind=table", "train.batch=1"});
  EXPECT_THAT(facts<ProcessFacts>().table.inputs, ElementsAre("a", "b"));
  write("b,y,a\n" + repeated("{0},1", 20));
  EXPECT_THAT(facts<ProcessFacts>(false).table.inputs, ElementsAre("a", "b"));
  EXPECT_EQ(facts<ProcessFacts>(false).table.target, "y");
}

TEST_F(RunNames, OfColumnsOfSensors) {
  const auto values = [](const std::string& header) {
    std::string text = header + "\n";
    for (int i = 0; i < 100; ++i)
      text += fmt::format("{},{},{},{}\n", i, i % 3, i % 5, 100 + i % 7);
    return text;
  };
  write(values("time,x,cold,hot"));
  begin({"model.kind=field", "data.kind=sensors", "data.place_columns=x"});
  EXPECT_THAT(facts<SensorFacts>().names, ElementsAre("time", "x", "cold", "hot"));
  write(values("time,x,hot,cold"));
  EXPECT_THAT(facts<SensorFacts>(false).names, ElementsAre("time", "x", "cold", "hot"));
  write(values("time,x,cold,warm"));
  EXPECT_THAT(problem(), HasSubstr("no column \"hot\""));
  write(values("1,2,3,4"));
  begin({"model.kind=field", "data.kind=sensors", "data.time_column=1", "data.place_columns=2"});
  EXPECT_EQ(facts<SensorFacts>().variates, 2u);
}

/// A run can be read again with any facts.
TEST_F(RunNames, MayHoldTabsAndLineEnds) {
  write("\"a\tb\",\"y\nz\"\n" + repeated("{0}", 20));
  train(tiny_config(file_, {"model.kind=gp", "data.kind=table", "train.batch=1", "train.steps=1"}));
  const auto kept = decode_facts<ProcessFacts>(load_run(run_.string()).checkpoint.facts());
  EXPECT_THAT(kept.table.inputs, ElementsAre("a\tb"));
  EXPECT_EQ(kept.table.target, "y\nz");
}

/// Facts preserve any bytes.
TEST_F(RunNames, AreUtf8) {
  write("x\xe9,y\n" + repeated("{0}", 20));
  begin({"model.kind=gp", "data.kind=table", "train.batch=1"});
  EXPECT_THAT(facts<ProcessFacts>(false).table.inputs, ElementsAre("x\xe9"));
}

TEST_F(RunNames, AreInARunAndInItsForks) {
  write(events + buys + views);
  const Config config = tiny_config(
      file_, {"model.kind=events", "data.kind=event_files", "train.steps=1", "data.length=4"});
  const std::filesystem::path fork = folder_.path() / "fork";
  train(config);
  write(events + repeated("{},view", 20) + repeated("{},buy", 20, 20) + sales);
  EXPECT_THAT(message_of<DataError>([&] {
                load_task({run_.string(), {}, false});
              }),
              HasSubstr("the model does not know the type \"sell\""));
  std::vector<std::string> notes;
  Session::fork({storage_, fork, "test"}, {run_, ""}, config, {.schedule = true}, notes);
  EXPECT_THAT(decode_facts<EventFacts>(load_run(fork.string()).checkpoint.facts()).table.types,
              ElementsAre("buy", "view", "sell"));
}

TEST_F(RunNames, SeriesOfAForkMayBeOthers) {
  const std::string north = repeated("{},north", 40), south = repeated("{},south", 40);
  write("x,shop,y\n" + north + south);
  const Config config =
      tiny_config(file_, {"model.kind=forecaster", "data.kind=series", "data.series=shop",
                          "data.lookback=8", "data.horizon=4", "train.steps=1"});
  train(config);
  const auto notes_of = [&](const char* name) {
    std::vector<std::string> notes;
    Session::fork({storage_, folder_.path() / name, "test"}, {run_, ""}, config, {.schedule = true},
                  notes);
    return notes;
  };
  EXPECT_THAT(notes_of("same"), ElementsAre());
  write("x,shop,y\n" + south + north);
  EXPECT_THAT(notes_of("order"), ElementsAre());
  const LoadedRun order = load_run((folder_.path() / "order").string());
  EXPECT_THAT(decode_facts<SeriesFacts>(order.checkpoint.facts()).names(),
              ElementsAre("north", "south"));
  write("x,shop,y\n" + north + repeated("{},west", 40));
  EXPECT_THAT(
      notes_of("other"),
      AllOf(Contains("starts from scratch: buffer/standardize.mean belongs to other series"),
            Contains("series differ from the parent's and are numbered anew")));
}

TEST_F(RunNames, DataThatHaveChangedAreNoted) {
  write("a,y\n" + repeated("{0}", 20));
  const Config config =
      tiny_config(file_, {"model.kind=gp", "data.kind=table", "train.batch=1", "train.steps=1"});
  train(config);
  const auto words = [&](const std::vector<std::string>& sets, bool tells = true) {
    testing::internal::CaptureStderr();
    load_task({run_.string(), sets, false, tells});
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(words({}), "");
  write("a,y\n" + repeated("{0}", 21));
  EXPECT_THAT(words({}), HasSubstr("the data differ from the training data"));
  EXPECT_EQ(words({}, false), "");
  EXPECT_EQ(words({"data.validation=0.2"}), "");
}

}  // namespace facts_test
}  // namespace bochner
