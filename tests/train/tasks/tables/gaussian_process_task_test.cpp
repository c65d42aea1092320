#include <gmock/gmock.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/formats/csv.hpp>
#include <bochner/layers/gaussian_processes/gaussian_process.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/task.hpp>
#include <cmath>

#include "data/messages.hpp"
#include "faults/crashing_storage.hpp"
#include "train/ask.hpp"
#include "train/training_run.hpp"
#include "train/well_formed.hpp"

namespace bochner {
namespace process_task_test {

using testing::ElementsAre;
using testing::HasSubstr;

double wave_at(double x) { return 300 + 2 * x + 5 * std::sin(2 * x); }

/// Irregular places, a wave on a line around 300 with noise of deviation 1; some values are
/// missing.
std::string noisy_wave(std::size_t rows) {
  const RandomFunction random{7, Purpose::test, 1};
  std::string text = "x,other,level\n";
  for (std::size_t i = 0; i < rows; ++i) {
    const double x = 10 * random.uniform(2 * i), y = wave_at(x) + random.normal(2 * i + 1);
    text += std::to_string(x) + ",text," + (i % 31 == 7 ? "NA" : std::to_string(y)) + "\n";
  }
  return text;
}

class ProcessTaskTest : public testing::Test {
 protected:
  ProcessTaskTest() { folder_.write("table.csv", noisy_wave(150)); }
  Config config(const std::vector<std::string>& sets = {}) const {
    std::vector<std::string> all = {"model.kind=gp",          "data.kind=table",
                                    "data.inputs=['x']",      "data.target=level",
                                    "data.validation=0.2",    "train.batch=1",
                                    "optim.lr=0.05",          "optim.schedule.kind=constant",
                                    "optim.schedule.warmup=0"};
    all.insert(all.end(), sets.begin(), sets.end());
    return tiny_config(folder_.path() / "table.csv", all);
  }
  std::string error_of(const std::vector<std::string>& sets) const {
    return message_of<ConfigError>([&] { config(sets); });
  }
  TemporaryFolder folder_;
};

Evaluation validated(Task& task) { return *evaluate_task(task, Split::validation, 1); }

TEST_F(ProcessTaskTest, IsMadeOfAConfig) {
  const auto task = make_task(config());
  EXPECT_EQ(task->data().words(),
            "1 input to level, 150 rows  ·  116 rows to train, 29 to validate");
  EXPECT_EQ(describe_model(task), "gp, exact, kernel of gaussian, trend linear");
  EXPECT_EQ(task->data().tokens_per_example(), 116u);
}

/// The spectrum shows one wave and the slow component.
TEST_F(ProcessTaskTest, ChoosesTheNumberOfComponents) {
  const auto task =
      make_task(config({"model.gp.density.kind=mixture", "model.gp.density.components=0"}));
  EXPECT_EQ(describe_model(task), "gp, exact, kernel of mixture of 2, trend linear");
}

TEST_F(ProcessTaskTest, LearnsTheFunctionAndItsNoise) {
  const Config learning = config();
  const auto task = make_task(learning);
  task->start();
  const double before = validated(*task).loss();
  train(learning, *task, 100);
  const Evaluation after = validated(*task);
  EXPECT_LT(after.loss(), before);
  EXPECT_LT(after.mean("mse"), 2);  // of the noise, 1
  EXPECT_GT(after.mean("covered_90"), 0.75);
  const NamedArray said = predict(task, parse_csv("x\n2\n5\n100\n", "new.csv"));
  EXPECT_THAT(said.columns, ElementsAre("x", "mean", "deviation", "q5", "q95"));
  for (const std::size_t row : {0u, 1u}) {
    EXPECT_NEAR(said.values(row, 1), wave_at(said.values(row, 0)), 1.5);
    EXPECT_NEAR(said.values(row, 2), 1, 0.4);
    EXPECT_NEAR(said.values(row, 4) - said.values(row, 3), 2 * 1.6449 * said.values(row, 2), 1e-3);
  }
  EXPECT_GT(said.values(2, 2), 3 * said.values(1, 2)) << "it knows what it does not know";
}

TEST_F(ProcessTaskTest, LearnsFromPartsOfTheRows) {
  const Config learning = config({"data.rows=50", "train.batch=2"});
  const auto task = make_task(learning);
  task->start();
  train(learning, *task, 100);
  EXPECT_LT(validated(*task).mean("mse"), 2);
}

TEST_F(ProcessTaskTest, OnlyNewRunsStartAtTheData) {
  const auto values = [&](bool started) {
    const auto task = make_task(config());
    if (started) task->start();
    return parameters_of(task->model())[1].parameter->value();
  };
  EXPECT_EQ(values(false).data()[0], real(GaussianProcessSpec().density.log_scale));
  EXPECT_NE(values(true), values(false));
}

TEST_F(ProcessTaskTest, ResumesToTheBit) {
  for (const char* rows :
       {"data.rows=0", "data.rows=30", "model.gp.method=cg", "model.gp.method=features",
        "model.gp.density.start=em", "model.gp.density.prior=0.3"}) {
    const Config learning =
        config({rows, "model.gp.density.kind=mixture", "train.steps=30", "train.validate.every=10",
                "train.log.every=7", "train.checkpoint.every=8"});
    faults::CrashingStorage whole, parts;
    start_leg(whole, learning, 1);
    start_leg(parts, learning, 2, Ending::signal, 13);
    resume_leg(parts, 3);
    EXPECT_EQ(difference(remains_of(parts), remains_of(whole)), "") << rows;
  }
}

TEST_F(ProcessTaskTest, DrawsBandsSpectraAndKernels) {
  for (const char* density : {"mixture", "student_t", "free"}) {
    const auto task = make_task(config({std::string("model.gp.density.kind=") + density}));
    Page page("title", "subtitle");
    illustrate(task, page);
    EXPECT_EQ(xml_problem(page.html()), "");
    EXPECT_THAT(page.html(), HasSubstr("level along x"));
    EXPECT_THAT(page.html(), HasSubstr("kernel k(δ)"));
    EXPECT_THAT(page.html(), HasSubstr("slope by x"));
  }
}

TEST_F(ProcessTaskTest, TakesSeveralInputsAndDates) {
  std::string text = "when,x,level\n";
  for (int i = 0; i < 60; ++i)
    text += "2001-" + std::to_string(10 + i % 3) + "-" + std::to_string(10 + i % 17) + "," +
            std::to_string(i % 7) + "," + std::to_string(i % 5) + "\n";
  folder_.write("table.csv", text);
  for (const char* combine : {"product", "sum", "both"}) {
    const auto task =
        make_task(config({"data.inputs=['when','x']", std::string("model.gp.combine=") + combine}));
    EXPECT_THAT(describe_model(task), HasSubstr(std::string(combine) + " of gaussian"));
    Page page("title", "subtitle");
    illustrate(task, page);
    EXPECT_THAT(page.html(), HasSubstr("when, years"));
    const NamedArray said = predict(task, parse_csv("x,when\n2,2001-11-11\n", "new.csv"));
    EXPECT_EQ(said.columns[0], "when");
    EXPECT_EQ(said.time, 0u);
    EXPECT_TRUE(std::isfinite(said.values(0, 2)));
  }
}

TEST_F(ProcessTaskTest, AnswersWithoutItsTable) {
  const Config config =
      this->config({"model.gp.density.kind=mixture", "model.gp.density.components=0"});
  const auto task = make_task(config);
  task->start();
  std::filesystem::remove(folder_.path() / "table.csv");
  const auto learner = without_data(config, task);
  const NamedArray question = parse_csv("x\n2\n5\n100\n", "new.csv");
  EXPECT_EQ(learner->abilities().tables->predict(question).values, predict(task, question).values);
  EXPECT_THAT(learner->abilities().tables->input_columns(), ElementsAre("x"));
  EXPECT_EQ(learner->describe(), describe_model(task));
  Page page("title", "subtitle"), same("title", "subtitle");
  illustrate(task, page);
  learner->illustrate(same);
  EXPECT_EQ(same.html(), page.html());
}

TEST_F(ProcessTaskTest, RefusesOtherColumnsThanTheKnown) {
  const auto task = make_task(config());
  const KnownFacts known{.bytes = task->learner().facts()};
  EXPECT_EQ(make_task(config(), known)->learner().facts(), known.bytes);
  folder_.write("table.csv", "x,z,level\n1,2,3\n2,3,4\n3,4,4\n4,5,5\n");
  EXPECT_THAT(message_of<DataError>([&] { make_task(config({"data.inputs=['x','z']"}), known); }),
              HasSubstr("2 inputs; the model was trained on 1"));
}

TEST_F(ProcessTaskTest, SaysWhatDoesNotFit) {
  EXPECT_THAT(error_of({"train.batch=2"}), HasSubstr("train.batch = 2: must be 1 with data.rows"));
  EXPECT_THAT(error_of({"model.gp.quantiles=[0.5, 1]"}),
              HasSubstr("must be greater than 0 and less than 1"));
  EXPECT_THAT(error_of({"model.gp.density.start=periodogram"}),
              HasSubstr("needs model.gp.density.kind = \"mixture\""));
  EXPECT_THAT(error_of({"model.gp.density.start=em"}),
              HasSubstr("needs model.gp.density.kind = \"mixture\""));
  EXPECT_THAT(error_of({"data.columns=['x']"}),
              HasSubstr("data.columns has no effect with data.kind = \"table\"; remove it"));
  EXPECT_THAT(message_of<DataError>([&] {
                make_task(config({"model.gp.method=features", "model.gp.m=65536"}));
              }),
              HasSubstr("model.gp.m = 65536: 131072 features take 256 GiB"));
  EXPECT_THAT(error_of({"data.time_format=%Y"}), HasSubstr("needs data.time_column"));
  EXPECT_THAT(error_of({"data.missing=forward"}),
              HasSubstr("data.missing has no effect with data.kind = \"table\"; remove it"));
  EXPECT_THAT(error_of({"model.kind=lm"}), HasSubstr("cannot learn data.kind = \"table\""));
  EXPECT_THAT(message_of<ConfigError>(
                  [&] { tiny_config(folder_.path() / "table.csv", {"model.gp.trend=none"}); }),
              HasSubstr("model.gp.trend has no effect with model.kind = \"lm\"; remove it"));
  EXPECT_THAT(
      message_of<std::invalid_argument>([&] { make_task(config({"model.gp.density.kind=flow"})); }),
      HasSubstr("has no kernel in closed form"));
  folder_.write("table.csv", "x,level\n1,2\nNA,3\n2,2\n");
  EXPECT_THAT(message_of<DataError>([&] { make_task(config()); }),
              HasSubstr("table.csv: row 2: column x: no input may be missing"));
}

}  // namespace process_task_test
}  // namespace bochner
