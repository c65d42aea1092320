#include <fmt/format.h>
#include <gmock/gmock.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/formats/csv.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/fields/sensor_facts.hpp>
#include <bochner/train/tasks/task.hpp>
#include <cmath>
#include <optional>

#include "faults/crashing_storage.hpp"
#include "train/ask.hpp"
#include "train/training_run.hpp"
#include "train/well_formed.hpp"

namespace bochner {
namespace sensor_task_test {

using testing::ElementsAre;
using testing::HasSubstr;

/// Nine sensors on a line, read in turn every 0.1 at irregular moments: a wave around 20.
std::string wave_table(std::size_t rows) {
  std::string text = "when,x,level,other\n";
  for (std::size_t i = 0; i < rows; ++i) {
    const double time = 0.1 * double(i) + 0.03 * double(i % 3), x = double(i * 4 % 9) / 4;
    const double level = 20 + 5 * std::cos(2 * x - time);
    text += std::to_string(time) + "," + std::to_string(x) + "," +
            (i % 31 == 7 ? "NA" : std::to_string(level)) + ",text\n";
  }
  return text;
}

class SensorTaskTest : public testing::Test {
 protected:
  SensorTaskTest() { folder_.write("sensors.csv", wave_table(600)); }
  Config config(const std::vector<std::string>& sets = {}) const {
    std::vector<std::string> all = {
        "model.kind=field",         "data.kind=sensors",      "data.time_column=when",
        "data.place_columns=['x']", "data.columns=['level']", "data.length=24",
        "data.validation=0.2",      "model.encoding.space=6", "model.encoding.time=6"};
    all.insert(all.end(), sets.begin(), sets.end());
    return tiny_config(folder_.path() / "sensors.csv", all);
  }
  std::string error_of(const std::vector<std::string>& sets) const {
    return message_of<ConfigError>([&] { config(sets); });
  }
  TemporaryFolder folder_;
};

Evaluation validated(Task& task) { return *evaluate_task(task, Split::validation, 4); }

TEST_F(SensorTaskTest, IsMadeOfAConfig) {
  const auto task = make_task(config());
  EXPECT_EQ(task->data().words(),
            "9 places in 1 dimensions, 1 variate, 600 readings  ·  457 examples to train, 5 to "
            "validate");
  EXPECT_THAT(describe_model(task), HasSubstr("encoding fused"));
  EXPECT_EQ(task->data().tokens_per_example(), 24u);
}

/// A zero head predicts 0, the mean of the training readings: its error is their variance, 1.
TEST_F(SensorTaskTest, MeasuresInUnitsOfTheTrainingReadings) {
  const auto task = make_task(config());
  for (const NamedParameter& named : parameters_of(task->model()))
    if (named.name.starts_with("head")) named.parameter->value().fill(0);
  const Evaluation silent = validated(*task);
  EXPECT_NEAR(silent.loss(), 1, 0.4);
  EXPECT_THAT(silent.words(), HasSubstr("mse of the mean of seen values"));
  EXPECT_GT(silent.terms, 5u * 5);
  EXPECT_LE(silent.terms, 5u * 6);
}

TEST_F(SensorTaskTest, LearnsToInterpolateAndToForecast) {
  for (const char* ask : {"any", "last"}) {
    const Config learning =
        config({std::string("data.ask=") + ask, "model.width=16", "model.blocks=2",
                "train.batch=16", "optim.lr=0.01", "train.steps=300", "optim.schedule.kind=cosine",
                "optim.schedule.warmup=20"});
    const auto task = make_task(learning);
    train(learning, *task, 300);
    const Evaluation result = validated(*task);
    EXPECT_LT(result.loss(), 0.5 * result.mean("mean_seen")) << ask;
    Page page("title", "subtitle");
    illustrate(task, page);
    EXPECT_EQ(xml_problem(page.html()), "");
    EXPECT_THAT(page.html(), HasSubstr("encoding by place"));
  }
}

TEST_F(SensorTaskTest, ResumesToTheBit) {
  const Config learning = config({"data.ask=places", "train.steps=30", "train.validate.every=10",
                                  "train.log.every=7", "train.checkpoint.every=8"});
  faults::CrashingStorage whole, parts;
  start_leg(whole, learning, 1);
  start_leg(parts, learning, 2, Ending::signal, 13);
  resume_leg(parts, 3);
  EXPECT_EQ(difference(remains_of(parts), remains_of(whole)), "");
}

NamedArray table_of(const std::string& text) {
  return parse_csv(text, "new.csv", {.columns = {"when", "x", "level"}, .missing = "nan"});
}

TEST_F(SensorTaskTest, FillsInWhatIsMissing) {
  const auto task = make_task(config());
  const std::string seen = "1.5,0.5,21\n1.25,1,19\n";
  const NamedArray filled =
      predict(task, table_of("when,x,level\n3,1,\n" + seen + "2,0.25,NA\n2.5,0.75,22\n"));
  EXPECT_THAT(filled.columns, ElementsAre("when", "x", "level"));
  ASSERT_EQ(filled.values.shape()[0], 2u);  // those without a value, in the order of the table
  EXPECT_EQ(filled.values(0, 0), 3);
  EXPECT_EQ(filled.values(1, 1), 0.25);
  EXPECT_TRUE(std::isfinite(filled.values(0, 2)));
  EXPECT_THAT(message_of<DataError>([&] { predict(task, table_of("when,x,level\n3,1,\n")); }),
              HasSubstr("row 1: no other reading to predict its values from"));
}

/// Two columns of values, in any order.
TEST_F(SensorTaskTest, TakesColumnsOfATableByTheirNames) {
  std::string text = "when,x,level,rain\n";
  for (std::size_t i = 0; i < 600; ++i)
    text += fmt::format("{},{},{},{}\n", 0.1 * double(i), double(i * 4 % 9) / 4, 20 + i % 5, i % 3);
  folder_.write("sensors.csv", text);
  const auto task = make_task(config({"data.columns=[]"}));
  EXPECT_THAT(decode_facts<SensorFacts>(task->learner().facts()).table().value_names(),
              ElementsAre("level", "rain"));
  const auto asked = [&](const std::string& table) {
    return predict(task, parse_csv(table, "asked.csv", {.missing = "nan"}));
  };
  const NamedArray straight = asked("when,x,level,rain\n1.5,0.5,21,2\n1.25,1,19,0\n1.4,1,,1\n"),
                   swapped = asked("when,rain,level,x\n1.5,2,21,0.5\n1.25,0,19,1\n1.4,1,,1\n");
  EXPECT_THAT(swapped.columns, ElementsAre("when", "x", "level", "rain"));
  EXPECT_EQ(swapped.values, straight.values);
  EXPECT_THAT(message_of<DataError>([&] { asked("when,x,level,snow\n1.5,0.5,21,2\n1.4,1,,1\n"); }),
              HasSubstr("the input has no column \"rain\""));
}

/// 240 readings, one in forty missing; with `only`, that one alone is missing.
NamedArray gaps_table(std::optional<std::size_t> only = {}) {
  std::string text = "when,x,level\n";
  for (std::size_t i = 0; i < 240; ++i) {
    const bool missing = i % 40 == 20;
    if (only && missing && i != *only) continue;
    const double time = 0.1 * double(i), x = double(i * 4 % 9) / 4;
    text += std::to_string(time) + "," + std::to_string(x) + "," +
            (missing ? "" : std::to_string(20 + 5 * std::cos(2 * x - time))) + "\n";
  }
  return table_of(text);
}

TEST_F(SensorTaskTest, FillsInFarRowsAsIfEachWereAskedAlone) {
  for (const char* ask : {"any", "last"}) {
    const auto task = make_task(config({std::string("data.ask=") + ask}));
    const NamedArray filled = predict(task, gaps_table());
    ASSERT_EQ(filled.values.shape()[0], 6u);
    for (std::size_t k = 0; k < 6; ++k)
      EXPECT_NEAR(filled.values(k, 2), predict(task, gaps_table(20 + 40 * k)).values(0, 2), 1e-4)
          << ask << k;
  }
}

/// A forecast does not see what comes later, and an interpolation does.
TEST_F(SensorTaskTest, AForecastSeesNoFuture) {
  for (const char* ask : {"any", "last"}) {
    const auto task = make_task(config({std::string("data.ask=") + ask}));
    const auto at_two = [&](const char* later) {
      const std::string rows = "when,x,level\n1,0.5,21\n2,0.25,\n3,1," + std::string(later);
      return predict(task, table_of(rows + "\n1.5,1,19\n")).values(0, 2);
    };
    EXPECT_EQ(at_two("25") == at_two("15"), ask == std::string("last")) << ask;
  }
}

TEST_F(SensorTaskTest, AnswersWithoutItsReadings) {
  const Config config = this->config({"data.ask=last"});
  const auto task = make_task(config);
  std::filesystem::remove(folder_.path() / "sensors.csv");
  const auto learner = without_data(config, task);
  EXPECT_EQ(learner->abilities().tables->predict(gaps_table()).values,
            predict(task, gaps_table()).values);
  EXPECT_EQ(learner->describe(), describe_model(task));
  Tape tape({.recording = false});
  ASSERT_GT(learner->abilities().specimens->specimens(), 0u);
  EXPECT_NO_THROW(learner->abilities().specimens->forward_specimen(tape, 0));
}

TEST_F(SensorTaskTest, RefusesFactsThatContradictThemselves) {
  const std::string facts = make_task(config())->learner().facts();
  expect_refuses_damaged_facts(config(), facts);
  EXPECT_EQ(make_task(config(), {.bytes = facts})->learner().facts(), facts);
  const auto refuses = [&](const auto& change) {
    auto changed = decode_facts<SensorFacts>(facts);
    change(changed);
    EXPECT_THROW(make_learner(config(), {.bytes = encode_facts(changed)}), DataError);
  };
  refuses([](SensorFacts& changed) { changed.dimensions = 2; });
  refuses([](SensorFacts& changed) { changed.variates = std::uint64_t(1) << 40; });
  refuses([](SensorFacts& changed) { changed.length = 23; });
  refuses([](SensorFacts& changed) { changed.names.pop_back(); });
  refuses([](SensorFacts& changed) { changed.specimens[0].places.pop_back(); });
}

TEST_F(SensorTaskTest, SaysWhatDoesNotFit) {
  EXPECT_THAT(error_of({"data.place_columns=[]"}),
              HasSubstr("data.place_columns = []: must name one to three columns"));
  EXPECT_THAT(
      error_of({"model.patch.pixels=2"}),
      HasSubstr("model.patch.pixels has no effect with data.kind = \"sensors\"; remove it"));
  EXPECT_THAT(error_of({"model.positions=rotary"}),
              HasSubstr("model.positions has no effect with model.kind = \"field\"; remove it"));
  EXPECT_THAT(error_of({"data.missing=forward"}),
              HasSubstr("data.missing has no effect with data.kind = \"sensors\"; remove it"));
  EXPECT_THAT(error_of({"data.ask=first"}), HasSubstr("data.ask = \"first\": must be"));
  EXPECT_THAT(error_of({"model.kind=lm"}), HasSubstr("cannot learn data.kind = \"sensors\""));
  EXPECT_THAT(message_of<DataError>([&] { make_task(config({"data.place_columns=['z']"})); }),
              HasSubstr("no column \"z\""));
}

}  // namespace sensor_task_test
}  // namespace bochner
