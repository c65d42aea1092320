#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <cmath>

#include "data/messages.hpp"
#include "data/temporary_folder.hpp"
#include "train/training_run.hpp"
#include "train/well_formed.hpp"

namespace bochner {
namespace verdict_test {

using testing::HasSubstr;

const Verdict of_errors{"RMSE of y", "9 held-out rows", 2, {{"mean", 8}, {"ridge", 4}}};

TEST(Verdict, ComparesWithTheBestNaiveAnswer) {
  EXPECT_EQ(of_errors.words(),
            "RMSE of y 2 on 9 held-out rows; mean 8, ridge 4: 50 % less than ridge");
  EXPECT_EQ(of_errors.best_naive().name, "ridge");
  EXPECT_TRUE(of_errors.beats_naive());
  const Verdict right{"accuracy", "8 texts", 0.75, {{"the most frequent class", 0.5}}, true};
  EXPECT_EQ(right.words(), "accuracy 75.0 % on 8 texts; the most frequent class 50.0 %: better");
  EXPECT_FALSE(Verdict().exists());
}

TEST(Verdict, AnErrorThatIsHardlyLessIsNoBetter) {
  Verdict level = of_errors;
  for (const double score : {3.97, 4.0, 9.0}) {
    level.score = score;
    EXPECT_FALSE(level.beats_naive()) << score;
    EXPECT_THAT(level.words(), HasSubstr(": no better than ridge"));
  }
  level.score = 3.95;
  EXPECT_TRUE(level.beats_naive());
  Verdict right{"accuracy", "8 texts", 0.5, {{"the most frequent class", 0.5}}, true};
  EXPECT_FALSE(right.beats_naive());
  right.score = 0.501;
  EXPECT_TRUE(right.beats_naive());
}

TEST(Verdict, IsKeptAsJsonAndShown) {
  const Json json = Json::parse(of_errors.json().line());
  EXPECT_EQ(json["naive"]["ridge"].number(), 4);
  EXPECT_EQ(json["beats_naive"].flag(), true);
  EXPECT_EQ(*json["words"].text(), of_errors.words());
  Page page("run", ""), none("run", "");
  add_verdict(page, of_errors);
  EXPECT_THAT(page.html(), HasSubstr("50 % less than ridge."));
  EXPECT_EQ(XmlReader(page.html()).problem(), "");
  add_verdict(none, {});
  EXPECT_THAT(none.html(), testing::Not(HasSubstr("How good")));
}

class TaskVerdict : public testing::Test {
 protected:
  Verdict verdict(const Config& config) {
    const auto task = make_task(config);
    task->start();
    return task->verdict(held_out_examples(task->data(), 2, 0));
  }
  /// Returns a task of this model that evaluates other data, as `bochner eval RUN FILE` does.
  std::unique_ptr<Task> elsewhere(const Config& config, const std::filesystem::path& file) {
    const auto task = make_task(config);
    return make_task(with_sets(config, sets_of_other_data(config, file.string())),
                     {task->learner().facts(), false, true});
  }
  static HeldOut all() { return {Split::train, 4, 0}; }

  TemporaryFolder folder_;
};

TEST_F(TaskVerdict, OfALanguageModelIsInBitsPerByte) {
  const Config config = tiny_config(folder_.write("text", tiny_text()));
  const auto task = make_task(config);
  const HeldOut held = held_out_examples(task->data(), 2, 0);
  const Verdict verdict = task->verdict(held);
  ASSERT_EQ(verdict.naive.size(), 2u);
  EXPECT_NEAR(verdict.score, held.evaluate(*task).loss() / std::log(2), 1e-9);
  EXPECT_LT(verdict.naive[1].value, 8);
  // 40 bytes of two kinds: one bit each.
  std::string bits;
  for (int i = 0; i < 40; ++i) bits += i % 2 ? "ba" : "ab";
  const auto other = elsewhere(config, folder_.write("other", bits));
  const Verdict of_other = other->verdict(all());
  ASSERT_EQ(of_other.naive.size(), 1u);
  EXPECT_NEAR(of_other.naive[0].value, 1, 0.01);
}

TEST_F(TaskVerdict, OfAClassifierCountsTheMostFrequentClass) {
  for (int i = 0; i < 12; ++i) folder_.write("own/a/" + std::to_string(i), "one");
  for (int i = 0; i < 8; ++i) folder_.write("own/b/" + std::to_string(i), "two");
  const Config config =
      tiny_config(folder_.path() / "own/*/*", {"model.kind=classifier", "data.kind=texts"});
  EXPECT_EQ(verdict(config).data, "2 held-out examples");
  for (int i = 0; i < 3; ++i) folder_.write("other/a/" + std::to_string(i), "one");
  folder_.write("other/b/1", "two");
  const auto other = elsewhere(config, folder_.path() / "other");
  const Verdict of_other = other->verdict(all());
  EXPECT_EQ(of_other.naive[0].value, 0.75);
  EXPECT_EQ(of_other.score, all().evaluate(*other).mean("accuracy"));
}

std::string line_of(std::size_t rows, double slope) {
  std::string text = "x,z,y\n";
  for (std::size_t i = 0; i < rows; ++i)
    text += std::to_string(i) + "," + std::to_string(i * i % 7) + "," +
            std::to_string(slope * double(i)) + "\n";
  return text;
}

TEST_F(TaskVerdict, OfAProcessKeepsItsRowsWhenItAnswersOthers) {
  const Config config =
      tiny_config(folder_.write("a.csv", line_of(40, 1)),
                  {"model.kind=gp", "data.kind=table", "train.batch=1", "data.validation=0.2"});
  const Verdict own = verdict(config);
  EXPECT_EQ(own.data, "8 held-out rows");
  EXPECT_GT(own.naive[0].value, 5);  // the mean
  EXPECT_LT(own.naive[1].value, 1);  // ridge
  // A process with these rows instead of its own would fit them.
  const auto other = elsewhere(config, folder_.write("b.csv", line_of(10, -1)));
  const Verdict of_other = other->verdict(all());
  EXPECT_EQ(of_other.data, "10 held-out rows");
  EXPECT_GT(of_other.score, 5);
  EXPECT_NEAR(of_other.score, std::sqrt(all().evaluate(*other).mean("mse")), 1e-9);
}

TEST_F(TaskVerdict, OfAForecasterIsInTheUnitOfTheData) {
  std::string text = "load\n";
  for (int i = 0; i < 200; ++i) text += std::to_string(100 * (i % 2)) + "\n";
  const Config config = tiny_config(folder_.write("a.csv", text),
                                    {"model.kind=forecaster", "data.kind=series",
                                     "model.backbone=linear", "data.lookback=8", "data.horizon=4"});
  const Verdict own = verdict(config);
  EXPECT_THAT(own.measure, HasSubstr("of load"));
  EXPECT_EQ(own.naive[0].name, "last value");
  EXPECT_EQ(own.naive[0].value, 50);
  EXPECT_EQ(elsewhere(config, folder_.path() / "a.csv")->verdict(all()).naive[0].value, 50);
}

TEST_F(TaskVerdict, GeneratedDataTakeNoFile) {
  const Config config = tiny_config("unused", {"data.kind=copy", "data.length=12"});
  EXPECT_THAT(message_of<std::invalid_argument>([&] { sets_of_other_data(config, "a.csv"); }),
              HasSubstr("a.csv: data.kind = \"copy\" is generated and reads no file"));
  EXPECT_FALSE(verdict(config).exists());
}

}  // namespace verdict_test
}  // namespace bochner
