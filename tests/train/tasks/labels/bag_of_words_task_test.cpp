#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/train/charts/page.hpp>

#include "train/ask.hpp"
#include "train/training_run.hpp"
#include "train/well_formed.hpp"

namespace bochner {
namespace bag_of_words_task_test {

using testing::ElementsAre;
using testing::HasSubstr;

class BagOfWordsTaskTest : public testing::Test {
 protected:
  BagOfWordsTaskTest() {
    for (int i = 0; i < 40; ++i) {
      folder_.write(fmt::format("texts/good/{}", i), fmt::format("A fine film, number {}", i % 7));
      folder_.write(fmt::format("texts/bad/{}", i), fmt::format("no FINE film; {} bad", i % 5));
      folder_.write(fmt::format("texts/good/{}", 40 + i), "warm and fine");
    }
  }
  Config config(const std::vector<std::string>& sets = {}) const {
    std::vector<std::string> all = {"model.kind=bag_of_words", "data.kind=texts", "train.steps=0",
                                    "data.validation=0.1"};
    all.insert(all.end(), sets.begin(), sets.end());
    return tiny_config(folder_.path() / "texts/*/*", all);
  }
  static std::unique_ptr<Task> fitted(const Config& config) {
    auto task = make_task(config);
    task->start();
    return task;
  }
  TemporaryFolder folder_;
};

TEST_F(BagOfWordsTaskTest, AnswersWithClassAndProbabilities) {
  const Config keys = config();
  const auto task = fitted(keys);
  EXPECT_EQ(task->data().words(),
            "120 texts of 2 labels (bad, good)  ·  108 examples to train, 12 to validate");
  const auto learner = without_data(keys, task);
  const NamedArray answer =
      learner->abilities().texts->predict_texts({"so warm and fine", "NO! bad", ""}, 1);
  EXPECT_THAT(answer.columns, ElementsAre("text", "class", "class_bad", "class_good"));
  EXPECT_THAT(answer.texts.at(1), ElementsAre("bad", "good"));
  EXPECT_EQ(answer.values(0, 1), 1);
  EXPECT_GT(answer.values(0, 3), 0.8);
  EXPECT_EQ(answer.values(1, 1), 0);
  EXPECT_EQ(answer.values(2, 1), 1) << "the more frequent label, without a word";
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(answer.values(i, 2) + answer.values(i, 3), 1, 1e-12);
  const Evaluation held_out = *evaluate_task(*task, Split::validation, 5);
  EXPECT_EQ(held_out.terms, 12u);
  EXPECT_EQ(held_out.mean("accuracy"), 1);
  expect_refuses_damaged_facts(keys, task->learner().facts());
}

TEST_F(BagOfWordsTaskTest, SaysHowGoodItIs) {
  const auto task = fitted(config({"data.validation=0"}));
  EXPECT_THAT(
      task->verdict({}).words(),
      testing::AllOf(HasSubstr("accuracy 100.0 % on"), HasSubstr("in 5-fold cross-validation"),
                     HasSubstr("most frequent class 66.7 %: better")));
  Page page("run", "");
  illustrate(task, page);
  for (const char* shown : {"recall", "Words that decide", "no fine", "warm"})
    EXPECT_THAT(page.html(), HasSubstr(shown));
  EXPECT_THAT(page.html(), HasSubstr("No answer is wrong"));
  EXPECT_EQ(xml_problem(page.html()), "");
}

TEST_F(BagOfWordsTaskTest, ShowsMistakes) {
  for (int i = 0; i < 20; ++i)
    folder_.write(fmt::format("texts/bad/wrong{}", i), "warm\nand fine <>");
  const auto task = fitted(config({"data.validation=0"}));
  Page page("run", "");
  illustrate(task, page);
  EXPECT_THAT(page.html(), HasSubstr("warm and fine &lt;"));
}

TEST_F(BagOfWordsTaskTest, RefusesStepsAndNewLabels) {
  EXPECT_THAT(message_of<ConfigError>([&] { config({"train.steps=5"}); }),
              HasSubstr("must be 0 with model.kind = \"bag_of_words\", which is fitted at once"));
  const KnownFacts known{.bytes = make_task(config())->learner().facts()};
  EXPECT_EQ(make_task(config(), known)->learner().facts(), known.bytes);
  folder_.write("texts/poor/1", "new");
  EXPECT_THAT(message_of<DataError>([&] { make_task(config(), known); }),
              HasSubstr("the model does not know the label \"poor\""));
}

}  // namespace bag_of_words_task_test
}  // namespace bochner
