#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/tables/mixed_facts.hpp>
#include <cmath>
#include <limits>

#include "train/ask.hpp"
#include "train/training_run.hpp"

namespace bochner {
namespace table_ensemble_task_test {

using testing::ElementsAre;
using testing::HasSubstr;

/// Houses whose price depends on their size, and on their town, which is the class of others.
std::string houses(std::size_t rows) {
  std::string text = "size,town,floor,price\n";
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t size = 40 + i * 37 % 60;
    text += fmt::format("{},{},{},{}\n", size, i % 3 == 0 ? "Bonn" : "Ulm",
                        i % 7 == 2 ? "NA" : std::to_string(i % 4),
                        3 * size + (i % 3 == 0 ? 90 : 0) + i * i % 5);
  }
  return text;
}

class TableEnsembleTaskTest : public testing::Test {
 protected:
  Config config(const std::string& text, const std::vector<std::string>& sets = {}) const {
    std::vector<std::string> all = {
        "model.kind=ensemble", "data.kind=table", "data.categories=['town']",
        "data.validation=0.2", "train.steps=0",   "model.estimators=['ridge','logistic']"};
    all.insert(all.end(), sets.begin(), sets.end());
    return tiny_config(folder_.write("houses.csv", text), all);
  }
  std::unique_ptr<Task> fitted(const Config& config) const {
    auto task = make_task(config);
    task->start();
    return task;
  }
  NamedArray question(const std::unique_ptr<Task>& task, const std::string& text) const {
    ReadOptions reading = tables(task).read_options();
    std::erase(reading.csv.columns, "town");  // as predict does with the target
    if (!reading.csv.columns.empty() && text.find("town") != text.npos)
      reading.csv.columns.push_back("town");
    return read_array(folder_.write("question.csv", text), reading);
  }
  TemporaryFolder folder_;
  const std::vector<std::string> of_towns = {"data.target=town",
                                             "data.inputs=['size','price','floor']"};
};

const char* one_house = "size,town,floor\n50,Bonn,2\n50,Ulm,\n";

TEST_F(TableEnsembleTaskTest, PredictsANumberWithBands) {
  const auto task = fitted(config(houses(80)));
  const NamedArray answer = predict(task, question(task, one_house));
  EXPECT_THAT(answer.columns, ElementsAre("size", "town", "floor", "price", "price_0.025",
                                          "price_0.1", "price_0.9", "price_0.975"));
  EXPECT_NEAR(answer.values(0, 3), 242, 3);
  EXPECT_NEAR(answer.values(1, 3), 152, 3);
  EXPECT_EQ(answer.texts.at(1)[std::size_t(answer.values(1, 1))], "Ulm");
  for (std::size_t j : {4u, 5u}) EXPECT_LT(answer.values(0, j), answer.values(0, 3));
  EXPECT_LE(answer.values(0, 4), answer.values(0, 5));
  EXPECT_LE(answer.values(0, 6), answer.values(0, 7));
}

TEST_F(TableEnsembleTaskTest, PredictsAClassWithProbabilities) {
  const auto task = fitted(config(houses(90), of_towns));
  const NamedArray answer = predict(task, question(task, "size,price,floor\n50,242,1\n50,152,1\n"));
  EXPECT_THAT(answer.columns, ElementsAre("size", "price", "floor", "town", "p_Bonn", "p_Ulm"));
  EXPECT_THAT(answer.texts.at(3), ElementsAre("Bonn", "Ulm"));
  EXPECT_EQ(answer.values(0, 3), 0);
  EXPECT_EQ(answer.values(1, 3), 1);
  EXPECT_GT(answer.values(0, 4), 0.7);
  EXPECT_NEAR(answer.values(1, 4) + answer.values(1, 5), 1, 1e-6);
}

TEST_F(TableEnsembleTaskTest, CoversAsAsked) {
  const auto task = fitted(config(houses(80)));
  const NamedArray usual = predict(task, question(task, one_house));
  UsesCalibration& learner = *task->learner().abilities().calibrated;
  learner.cover(0.8);
  const NamedArray answer = predict(task, question(task, one_house));
  EXPECT_THAT(answer.columns,
              ElementsAre("size", "town", "floor", "price", "price_0.1", "price_0.9"));
  for (std::size_t j : {4u, 5u}) EXPECT_NEAR(answer.values(0, j), usual.values(0, j + 1), 1e-3);
  learner.cover(0.999);
  EXPECT_THROW(predict(task, question(task, one_house)), std::invalid_argument);
}

TEST_F(TableEnsembleTaskTest, SetsHoldLikelyClasses) {
  const auto task = fitted(config(houses(90), of_towns));
  task->learner().abilities().calibrated->cover(0.9);
  const NamedArray answer = predict(task, question(task, "size,price,floor\n50,242,1\n50,152,1\n"));
  const std::size_t first = answer.columns.size() - 2;
  EXPECT_EQ(answer.columns[first].substr(0, 7), "in_set_");
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(answer.values(i, first) + answer.values(i, first + 1), 1) << i;
}

TEST_F(TableEnsembleTaskTest, NotesCategoriesThatItHasNotSeen) {
  const auto task = fitted(config(houses(80)));
  predict(task, question(task, "size,town,floor\n50,Jena,2\n"));
  EXPECT_THAT(tables(task).notes(), ElementsAre(HasSubstr("Jena")));
  predict(task, question(task, one_house));
  EXPECT_THAT(tables(task).notes(), ElementsAre());
}

TEST_F(TableEnsembleTaskTest, AnswersWithoutItsData) {
  for (const auto& sets : {std::vector<std::string>{}, of_towns}) {
    const Config keys = config(houses(80), sets);
    const auto task = fitted(keys);
    const auto learner = without_data(keys, task);
    const NamedArray asked = question(task, houses(2));
    EXPECT_EQ(learner->abilities().tables->predict(asked).values, predict(task, asked).values);
    expect_refuses_damaged_facts(keys, task->learner().facts());
  }
}

TEST_F(TableEnsembleTaskTest, EvaluatesHeldOutRows) {
  const Evaluation numbers = *evaluate_task(*fitted(config(houses(100))), Split::validation, 1);
  EXPECT_EQ(numbers.terms, 20u);
  EXPECT_LT(numbers.loss(), 9);
  EXPECT_LT(numbers.mean("mae"), 2.5);
  EXPECT_GT(numbers.mean("covered_80"), 0.6);
  const Evaluation classes =
      *evaluate_task(*fitted(config(houses(100), of_towns)), Split::validation, 1);
  EXPECT_GT(classes.mean("accuracy"), 0.9);
  EXPECT_LT(classes.loss(), 0.3);
}

TEST_F(TableEnsembleTaskTest, EvaluatesOtherRowsInItsUnits) {
  const auto task = fitted(config(houses(80)));
  const std::string facts = task->learner().facts();
  const auto other = make_task(config(houses(40), {"data.validation=0.5"}), {.bytes = facts});
  EXPECT_EQ(other->learner().facts(), facts);
  EXPECT_EQ(other->data().examples(Split::validation), 1u);
  EXPECT_THROW(make_task(config("size,town,floor,price\n1,Jena,1,2\n2,Ulm,1,2\n3,Ulm,1,3\n"),
                         {.bytes = facts}),
               DataError);
}

TEST_F(TableEnsembleTaskTest, SaysWhetherItBeatsNaiveAnswers) {
  for (const auto& sets : {std::vector<std::string>{}, of_towns}) {
    const auto task = fitted(config(houses(90), sets));
    const Verdict verdict = task->verdict({});
    EXPECT_THAT(verdict.details.front(), HasSubstr("compared"));
    EXPECT_TRUE(verdict.beats_naive());
    const HeldOut all{Split::train, 1, 0, evaluate_task(*task, Split::train, 1)};
    EXPECT_TRUE(task->verdict(all).beats_naive());
    EXPECT_THAT(page_of(*task), HasSubstr(sets.empty() ? "observed" : "recall"));
  }
}

TEST_F(TableEnsembleTaskTest, RefusesStepsAndFewRows) {
  EXPECT_THROW(config(houses(80), {"train.steps=5"}), ConfigError);
  EXPECT_THROW(make_task(config(houses(9))), DataError);
}

MixedFacts some_facts() {
  const std::vector<double> numbers(12, 3.5), indices(12, 1);
  return {{{"size", {}, numbers}, {"town", {"Bonn", "Ulm"}, indices}},
          {"price", {}, numbers},
          std::vector<ColumnUnit>(4)};
}

TEST_F(TableEnsembleTaskTest, FactsRefuseWhatContradictsItself) {
  EXPECT_NO_THROW(some_facts().check());
  const auto refuses = [](const auto& change) {
    MixedFacts facts = some_facts();
    change(facts);
    EXPECT_THROW(facts.check(), DataError);
  };
  refuses([](MixedFacts& facts) { facts.inputs.clear(); });
  refuses([](MixedFacts& facts) { facts.units.pop_back(); });
  refuses([](MixedFacts& facts) { facts.units[1].deviation = 0; });
  refuses([](MixedFacts& facts) { facts.inputs[0].values.pop_back(); });
  refuses([](MixedFacts& facts) { facts.inputs[1].values[3] = 2; });
  refuses([](MixedFacts& facts) { facts.inputs[1].values[3] = 0.5; });
  refuses([](MixedFacts& facts) { facts.target.values[0] = std::nan(""); });
}

}  // namespace table_ensemble_task_test
}  // namespace bochner
