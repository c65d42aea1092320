#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/data/former_split.hpp>
#include <bochner/train/commands/cli.hpp>
#include <bochner/train/commands/loaded_run.hpp>
#include <bochner/train/run/version.hpp>
#include <bochner/train/tasks/vocabularies.hpp>
#include <fstream>

#include "data/messages.hpp"
#include "faults/rewritten_checkpoint.hpp"
#include "train/thread_processes.hpp"
#include "train/training_run.hpp"

namespace bochner {
namespace older_run_test {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* older = "bochner 0.1.0 float, numerics 14, Release, GCC 12.2.0";

std::string without_names(const std::string& text) {
  Config config = stored_config(text, "config.toml");
  for (const char* list : {"types", "labels", "series", "levels", "columns", "time"})
    config.set(fmt::format("data.names.{}", list), Config::Texts(), "");
  return print_config(config);
}

/// A run of a program that kept no names and no units of columns.
class OlderRun : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    return folder_.write(name, text);
  }
  void train(const Config& config, const std::function<void(TrainerState&)>& change = {}) {
    {
      Session session = Session::start({storage_, run_, "test"}, config);
      run_leg(session, 1);
      step_ = session.state().step;
    }
    commit_file(storage_, run_ / "config.toml",
                without_names(read_file(storage_, run_ / "config.toml")));
    faults::rewrite_checkpoint(storage_, run_, step_, [&](CheckpointContent& content) {
      content.config = without_names(content.config);
      content.state.numerics = older;
      std::erase_if(content.tensors,
                    [](const TensorRecord& record) { return record.name == "buffer/units"; });
      if (change) change(content.state);
    });
  }
  Session resume(const std::vector<std::string>& sets = {}) {
    notes_.clear();
    return Session::resume({storage_, run_}, sets, false, notes_);
  }
  /// The config of the task of a command, which says `told_`.
  Config loaded(const std::vector<std::string>& sets = {}) {
    testing::internal::CaptureStderr();
    try {
      Config config = load_task({run_.string(), sets, false}).config;
      told_ = testing::internal::GetCapturedStderr();
      return config;
    } catch (...) {
      testing::internal::GetCapturedStderr();
      throw;
    }
  }
  int run(std::vector<std::string> words) {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = cli(int(words.size()), pointers.data());
    testing::internal::GetCapturedStdout();
    told_ = testing::internal::GetCapturedStderr();
    return code;
  }

  TemporaryFolder folder_;
  std::filesystem::path run_ = folder_.path() / "run";
  PosixStorage storage_;
  std::uint64_t step_ = 0;
  std::vector<std::string> notes_;
  std::string told_;
};

std::string in_list(const std::filesystem::path& file) {
  return "data.files=['" + file.string() + "']";
}

/// So many of the one, and the other.
std::string events(const std::string& first, const std::string& second, int count = 20) {
  std::string text = "time,type\n";
  for (int i = 0; i < 40; ++i) text += fmt::format("{},{}\n", i, i < count ? first : second);
  return text;
}

struct OlderEvents : OlderRun {
  std::filesystem::path file = write("events.csv", events("buy", "view")),
                        others = write("others.csv", events("view", "buy", 22));
  Config config(const std::filesystem::path& data, const char* validation = "0.1") const {
    return tiny_config(
        data, {"model.kind=events", "data.kind=event_files", "train.steps=2", "data.length=4",
               "train.shards=2", std::string("data.validation=") + validation});
  }
  static auto types(const Config& config) { return config.text_list("data.names.types"); }
};

TEST_F(OlderEvents, KeepNamesFromAResumeOn) {
  train(config(file));
  { resume(); }
  const auto kept = [&] { return stored_config(read_file(storage_, run_ / "config.toml"), "run"); };
  EXPECT_THAT(types(kept()), ElementsAre("buy", "view"));
  { resume({"train.steps=3"}); }  // killed twice before its next checkpoint
  Session session = resume();
  run_leg(session, 1);
  EXPECT_THAT(types(kept()), ElementsAre("buy", "view"));
  EXPECT_THAT(types(loaded()), ElementsAre("buy", "view"));
  EXPECT_EQ(told_, "");
}

TEST_F(OlderEvents, AreReadInTheOrderOfTheirOwnData) {
  train(config(file));
  EXPECT_THAT(types(loaded()), ElementsAre("buy", "view"));
  const std::string note = "note     the run is of another build, numerics 14 then, ";
  EXPECT_THAT(told_, AllOf(HasSubstr(note), Not(HasSubstr("kept no names"))));
  EXPECT_THAT(types(loaded({in_list(others)})), ElementsAre("buy", "view"));
  EXPECT_THAT(told_, Not(HasSubstr("kept no names")));
  const auto swapped = write("swapped.csv", events("view", "buy"));
  EXPECT_THAT(types(loaded({in_list(swapped)})), ElementsAre("buy", "view"));
  write("events.csv", events("view", "buy", 21));
  for (const auto& sets : {std::vector<std::string>(), {in_list(others)}}) {
    EXPECT_THAT(types(loaded(sets)), IsEmpty());
    EXPECT_THAT(told_, HasSubstr("kept no names, and the data that it learned have changed"));
    EXPECT_THAT(told_, HasSubstr("give it: --set 'data.names.types = [...]'"));
  }
  EXPECT_THAT(types(loaded({in_list(others), "data.names.types=['buy', 'view']"})),
              ElementsAre("buy", "view"));
  EXPECT_THAT(told_, Not(HasSubstr("kept no names")));
}

TEST_F(OlderEvents, HaveForksInTheOrderOfTheirOwnData) {
  train(config(file));
  const auto forked = [&](const char* name) {
    notes_.clear();
    return types(Session::fork({storage_, folder_.path() / name, "test"}, {run_, ""},
                               config(others), {.schedule = true}, notes_)
                     .config());
  };
  EXPECT_THAT(forked("same"), ElementsAre("buy", "view"));
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("numerics 14 then")));
  std::filesystem::remove(file);
  EXPECT_THAT(forked("unknown"), ElementsAre("view", "buy"));
  EXPECT_THAT(notes_, Contains(HasSubstr("kept no names")));
}

TEST_F(OlderEvents, AreReadByAllProcessesAsTheyWere) {
  {
    const FormerSplit former;
    train(config(file, "0.8"));
  }
  run_processes(2, [&](Processes& processes) {
    std::vector<std::string> notes;
    Session session = processes.leads() ? Session::resume({storage_, run_, "", {}, processes},
                                                          {"train.steps=4"}, false, notes)
                                        : Session::join(processes);
    EXPECT_EQ(session.task().data().fingerprint(), session.state().data_fingerprint);
    EXPECT_NE(make_task(session.config())->data().fingerprint(), session.state().data_fingerprint);
    EXPECT_THAT(types(session.config()), ElementsAre("buy", "view"));
    session.trainer().step();
    session.require_equal_weights();
  });
}

/// A column that is the double of another.
struct OlderTable : OlderRun {
  static std::string rows(int count) {
    std::string text = "a,y\n";
    for (int i = 0; i < count; ++i) text += fmt::format("{},{}\n", i % 11, 2 * (i % 11));
    return text;
  }
  std::filesystem::path file = write("table.csv", rows(40));
  Config config(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> sets = {"model.kind=gp", "data.kind=table", "train.batch=1",
                                     "train.steps=2", "data.validation=0.8"};
    sets.insert(sets.end(), more.begin(), more.end());
    return tiny_config(file, sets);
  }
  void train_formerly() {
    const FormerSplit former;
    train(config());
  }
};

TEST_F(OlderTable, KeepsWhatWasHeldOut) {
  train_formerly();
  const auto words = [](Task& task) { return task.data().words(); };
  const auto formerly = HasSubstr("7 rows to train, 33 to validate");
  EXPECT_THAT(words(*make_task(config())), HasSubstr("8 rows to train, 32 to validate"));
  for (const char* steps : {"train.steps=4", "train.steps=6"}) {
    Session session = resume({steps});
    EXPECT_THAT(words(session.task()), formerly);
    run_leg(session, 1);
  }
  testing::internal::CaptureStderr();
  EXPECT_THAT(words(*load_task({run_.string(), {}, false}).task), formerly);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(OlderTable, IsRefusedInWordsThatAreTrue) {
  train_formerly();
  write("table.csv", rows(41));
  for (const auto& action :
       std::vector<std::function<void()>>{[&] { resume(); }, [&] { loaded(); }})
    EXPECT_THAT(message_of<DataError>(action), HasSubstr("reads them otherwise"));
  EXPECT_THAT(message_of<DataError>([&] { resume(); }),
              HasSubstr("than that of the run (numerics 14 then, "));
}

TEST_F(OlderTable, IsExportedWithItsUnits) {
  train_formerly();
  const std::string out = (folder_.path() / "out.safetensors").string();
  const auto imported = [&](const char* name) {
    return run({"bochner", "import", out, "--run", (folder_.path() / name).string()});
  };
  EXPECT_EQ(run({"bochner", "export", run_.string(), "-o", out}), 0);
  EXPECT_EQ(told_, "");
  EXPECT_EQ(imported("whole"), 0);
  EXPECT_EQ(told_, "");
  write("table.csv", rows(39));
  EXPECT_EQ(run({"bochner", "export", run_.string(), "-o", out}), 0);
  EXPECT_THAT(told_, HasSubstr("they are left out"));
  EXPECT_EQ(imported("bare"), 0);
  EXPECT_THAT(told_, HasSubstr("kept no units of columns; they are taken from the data"));
}

TEST_F(OlderTable, SaysThatAForkMeasuresInOtherUnits) {
  train(config());
  const auto forked = [&](const char* name) {
    notes_.clear();
    Session::fork({storage_, folder_.path() / name, "test"}, {run_, ""}, config(),
                  {.schedule = true}, notes_);
  };
  forked("same");
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("numerics 14 then")));
  write("table.csv", rows(60));
  forked("other");
  EXPECT_THAT(notes_, AllOf(Contains(HasSubstr("its weights were learned in those of its data ")),
                            Not(Contains(HasSubstr("missing")))));
}

/// An epoch of nearly two steps was one.
TEST_F(OlderRun, StaysDoneWhereItWasDone) {
  const auto recipe = [&](const char* steps) {
    return tiny_config(write("text", tiny_text()), {"train.batch=7", "train.accumulate=4",
                                                    std::string("train.steps=") + steps});
  };
  train(recipe("3"));
  const std::string epochs = print_config(recipe("3e"));
  commit_file(storage_, run_ / "config.toml", epochs);
  const auto wrote = [&](const std::string& numerics) {
    faults::rewrite_checkpoint(storage_, run_, 3, [&](CheckpointContent& content) {
      content.config = epochs;
      content.state.numerics = numerics;
    });
  };
  wrote(older);
  for (int again = 0; again < 2; ++again) {
    Session session = resume();
    EXPECT_EQ(session.total_steps(), 3u);
    run_leg(session, 1);  // which saves it again
  }
  wrote(numerics_fingerprint());
  EXPECT_GT(resume().total_steps(), 3u);
  wrote(older);
  EXPECT_GT(resume({"train.steps=4e"}).total_steps(), 4u);
}

/// Half hours of shops that are open from nine to nine.
TEST_F(OlderRun, MeasuresItsBestAnewWhereWindowsGoAcrossPauses) {
  std::string text = "date,x\n";
  for (int day = 1; day <= 28; ++day)
    for (int slot = 18; slot <= 42; ++slot)
      text += fmt::format("2024-02-{:02} {:02}:{:02},{}\n", day, slot / 2, slot % 2 * 30,
                          (day * 7 + slot * slot) % 13);
  const auto recipe = [&](const std::string& table) {
    return tiny_config(write("series.csv", table),
                       {"model.kind=forecaster", "data.kind=series", "data.lookback=6",
                        "data.horizon=2", "train.steps=4", "train.validate.every=2"});
  };
  train(recipe(text));
  {
    const Session done = resume();
    EXPECT_FALSE(done.path().empty());
    EXPECT_THAT(notes_, Not(Contains(HasSubstr("begin anew"))));
  }
  {
    const Session session = resume({"train.steps=6"});
    EXPECT_THAT(notes_, Contains(HasSubstr("begin anew")));
  }
  Session session = resume({"train.steps=6"});
  EXPECT_THAT(session.state().best, IsEmpty());
  EXPECT_EQ(session.state().validations_since_improvement, 0u);
  run_leg(session, 1);
  EXPECT_EQ(session.state().best.front().step, 6u);
  EXPECT_EQ(revision_in(session.state().numerics), revision_in(numerics_fingerprint()));
}

TEST(Revision, IsThatOfAFingerprint) {
  EXPECT_EQ(revision_in(older), 14);
  EXPECT_EQ(revision_in("bochner 0.1.0 float, Release"), 1);
  EXPECT_EQ(other_revision(numerics_fingerprint()), "");
  EXPECT_THAT(other_revision(older), HasSubstr("numerics 14 then, "));
}

}  // namespace older_run_test
}  // namespace bochner
