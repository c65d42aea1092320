#include <fmt/format.h>
#include <gmock/gmock.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/formats/csv.hpp>
#include <bochner/train/commands/loaded_run.hpp>
#include <bochner/train/tasks/tables/process_facts.hpp>
#include <cmath>

#include "data/messages.hpp"
#include "faults/crashing_storage.hpp"
#include "train/training_run.hpp"

/// Runs of processes whose data or programs change.
namespace bochner {
namespace process_runs_test {

using testing::HasSubstr;
using testing::IsEmpty;

double wave_at(double x) { return 300 + 5 * std::sin(2 * x); }

std::string wave(std::size_t rows) {
  const RandomFunction random{7, Purpose::test, 1};
  std::string text = "x,level\n";
  for (std::size_t i = 0; i < rows; ++i) {
    const double x = 10 * random.uniform(i);
    text += fmt::format("{},{}\n", x, wave_at(x));
  }
  return text;
}

class ProcessRuns : public testing::Test {
 protected:
  ProcessRuns() { write(wave(120)); }
  void write(const std::string& text) const { folder_.write("table.csv", text); }
  /// Rows elsewhere, so that their mean and deviation are others.
  void append_far_rows() const {
    std::string far;
    for (int i = 0; i < 120; ++i) far += fmt::format("{},{}\n", 200 + i, 5000 + i);
    write(wave(120) + far);
  }
  Config config(const std::vector<std::string>& sets = {}) const {
    std::vector<std::string> all = {"model.kind=gp", "data.kind=table", "train.batch=1",
                                    "optim.lr=0.05", "train.steps=60",  "optim.schedule.warmup=0"};
    all.insert(all.end(), sets.begin(), sets.end());
    return tiny_config(folder_.path() / "table.csv", all);
  }
  void begin() {
    Session session = Session::start({storage_, run_, "test"}, config());
    run_leg(session, 1);
  }
  /// Without opening the table.
  NamedArray said(const Path& run, const std::vector<std::string>& sets = {}) const {
    const ModelOptions options{run.string(), sets};
    const auto learner = load_learner(load_run(options.run, sets), options);
    return learner->abilities().tables->predict(parse_csv("x\n2\n5\n", "asked.csv"));
  }
  /// Without the note on data that have changed.
  std::vector<ColumnUnit> units(const Path& run) const {
    testing::internal::CaptureStderr();
    const LoadedTask now = load_task({run.string(), {}, false});
    testing::internal::GetCapturedStderr();
    return decode_facts<ProcessFacts>(now.task->learner().facts()).units;
  }
  TemporaryFolder folder_;
  PosixStorage storage_;
  Path run_ = folder_.path() / "run";
};

TEST_F(ProcessRuns, KeepTheirUnitsWhereRowsAreAdded) {
  begin();
  const std::vector<ColumnUnit> learned = units(run_);
  append_far_rows();
  EXPECT_EQ(units(run_), learned);
  const NamedArray now = said(run_);
  for (const std::size_t row : {0u, 1u}) {
    EXPECT_NEAR(now.values(row, 1), wave_at(now.values(row, 0)), 0.5);
    EXPECT_LT(now.values(row, 2), 0.5);
  }
}

/// A run may be asked with all rows for its own, where they were held out of its training.
TEST_F(ProcessRuns, TakeAllRowsWhereNoneValidate) {
  begin();
  const NamedArray before = said(run_), with_all = said(run_, {"data.validation=0"});
  EXPECT_NE(with_all.values, before.values);
  for (const std::size_t row : {0u, 1u})
    EXPECT_NEAR(with_all.values(row, 1), wave_at(with_all.values(row, 0)), 0.5);
}

TEST_F(ProcessRuns, AnswerWhereTheirTableIsAway) {
  begin();
  const NamedArray before = said(run_), with_all = said(run_, {"data.validation=0"});
  std::filesystem::remove(folder_.path() / "table.csv");
  EXPECT_EQ(said(run_).values, before.values);
  EXPECT_EQ(said(run_, {"data.validation=0"}).values, with_all.values);
}

TEST_F(ProcessRuns, GiveTheirUnitsToForks) {
  begin();
  append_far_rows();
  std::vector<std::string> notes;
  const Path fork = folder_.path() / "fork";
  Session::fork({storage_, fork, "test"}, {run_, ""}, config(), {.schedule = true}, notes);
  EXPECT_THAT(notes, testing::ElementsAre(HasSubstr("units stay the parent's, far from those"),
                                          "the data differ from the parent's: their order begins "
                                          "anew"));
  EXPECT_EQ(units(fork), units(run_));
  EXPECT_NEAR(said(fork).values(0, 1), wave_at(2), 0.5);
}

/// Further settings that a choice needs.
std::vector<std::string> with_choice(const std::string& key, const std::string& name,
                                     const std::string& method) {
  std::vector<std::string> sets = {"data.rows=20", "model.gp.method=" + method};
  if (name == "periodogram" || name == "em") sets.push_back("model.gp.density.kind=mixture");
  sets.push_back(key + "=" + name);
  return sets;
}

/// All names of a list; spectra without a closed form, and draws, need features.
TEST_F(ProcessRuns, TrainWithEveryNamedChoice) {
  const ParameterTable table = registered_parameters();
  for (const ParameterRow& row : table.rows()) {
    if (!row.name.starts_with("model.gp.") || !row.bounds.choices) continue;
    if (row.name == "model.gp.density.posterior") continue;  // is for other models
    for (const std::string& name : row.bounds.choices())
      for (const char* method : {"features", "exact", "cg"}) {
        const bool of_features =
            row.name == "model.gp.density.kind" || row.name == "model.gp.draws";
        if (of_features && method != std::string("features")) continue;
        SCOPED_TRACE(row.name + " = " + name + ", " + method);
        const Config learning = config(with_choice(row.name, name, method));
        const auto task = make_task(learning);
        task->start();
        EXPECT_NO_THROW(train(learning, *task, 3));
        EXPECT_TRUE(std::isfinite(evaluate_task(*task, Split::validation, 1)->loss()));
      }
  }
}

}  // namespace process_runs_test
}  // namespace bochner
