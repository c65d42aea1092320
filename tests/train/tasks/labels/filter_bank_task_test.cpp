#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/train/charts/page.hpp>
#include <cmath>

#include "faults/crashing_storage.hpp"
#include "train/ask.hpp"
#include "train/training_run.hpp"

namespace bochner {
namespace filter_bank_task_test {

using testing::ElementsAre;
using testing::HasSubstr;

/// Waves of two paces, of 20 to 39 rows.
std::string waves(std::size_t count) {
  std::string text = "@problemName waves\n@classLabel true fast slow\n@data\n";
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t t = 0; t < 20 + i % 20; ++t)
      text += fmt::format("{}{:.4f}", t == 0 ? "" : ",",
                          std::sin(double(i) + double(t) * (i % 2 ? 0.5 : 1.1)));
    text += i % 2 ? ":slow\n" : ":fast\n";
  }
  return text;
}

class FilterBankTask : public testing::Test {
 protected:
  Config config(const std::vector<std::string>& sets = {}) const {
    std::vector<std::string> all = {"model.kind=filter_bank", "data.kind=labelled_series",
                                    "model.groups=4", "data.validation=0", "train.steps=0"};
    all.insert(all.end(), sets.begin(), sets.end());
    return tiny_config(folder_.write("waves_TRAIN.ts", waves(30)), all);
  }
  std::unique_ptr<Task> fitted(const Config& config) const {
    auto task = make_task(config);
    task->start();
    return task;
  }
  TemporaryFolder folder_;
};

TEST_F(FilterBankTask, PredictsTheClassOfEachSeries) {
  const auto task = fitted(config());
  const NamedArray answer =
      predict(task, read_array(folder_.write("question.ts", waves(4)), ReadOptions()));
  EXPECT_THAT(answer.columns, ElementsAre("series", "class_fast", "class_slow"));
  ASSERT_EQ(answer.values.shape()[0], 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_GT(answer.values(i, i % 2 ? 2 : 1), 0.8);
    EXPECT_NEAR(answer.values(i, 1) + answer.values(i, 2), 1, 1e-6);
  }
}

TEST_F(FilterBankTask, JudgesSeriesLeftOutOrTested) {
  const auto task = fitted(config());
  const Verdict left_out = task->verdict(held_out_examples(task->data(), 1, 0));
  EXPECT_THAT(left_out.words(), HasSubstr("on 30 series, each left out in turn; most frequent "
                                          "class 50.0 %: better"));
  const std::string html = page_of(*task);
  EXPECT_THAT(html, HasSubstr("Answers to 30 held-out examples"));
  const auto tested = fitted(
      config({"data.test_files=['" + folder_.write("waves_TEST.ts", waves(11)).string() + "']"}));
  const HeldOut test = held_out_examples(tested->data(), 1, 0);
  EXPECT_EQ(test.split, Split::test);
  EXPECT_EQ(tested->verdict(test).data, "11 held-out examples");
  EXPECT_THAT(page_of(*tested), HasSubstr("Answers to 11 held-out examples"));
}

/// The head is fitted again for each checkpoint, and training does not depend on it.
TEST_F(FilterBankTask, TrainsFiltersBitForBitOverStopsAndThreads) {
  const Config config =
      this->config({"data.validation=0.2", "train.steps=6", "train.batch=8", "optim.lr=0.05",
                    "model.groups=1", "train.validate.every=4", "train.checkpoint.every=2"});
  faults::CrashingStorage whole, stopped;
  start_leg(whole, config, 1);
  start_leg(stopped, config, 2, Ending::signal, 3);
  resume_leg(stopped, 2, Ending::kill, 5);
  resume_leg(stopped, 1);
  EXPECT_EQ(difference(remains_of(whole), remains_of(stopped)), "");
  faults::CrashingStorage frozen;
  start_leg(frozen, this->config({"data.validation=0.2", "model.groups=1"}), 1);
  const auto trained = remains_of(whole).tensors, before = remains_of(frozen).tensors;
  const auto changes = [&](const std::string& name) {
    for (const auto& [each, bytes] : trained)
      if (each.ends_with(name)) return bytes != before.at(each);
    throw std::invalid_argument(name);
  };
  EXPECT_TRUE(changes("bank.density.log_scale"));
  EXPECT_TRUE(changes("head.weights"));
  EXPECT_FALSE(changes("bank.quantiles"));
}

TEST_F(FilterBankTask, FitsTheHeadToTheTrainedFilters) {
  const Config config = this->config({"train.steps=3", "train.batch=8", "optim.lr=0.05"});
  const auto task = make_task(config);
  task->start();
  train(config, *task, 3);
  const auto buffers = buffers_of(task->model());
  const Tensor& weights = *std::ranges::find(buffers, "head.weights", &NamedTensor::name)->tensor;
  const Tensor old = weights;
  task->fit_closed_form();
  EXPECT_NE(old, weights);
  const Verdict verdict = task->verdict(held_out_examples(task->data(), 1, 0));
  EXPECT_EQ(verdict.data, "30 series, each left out in turn");
  EXPECT_GT(verdict.score, 0.8);
}

TEST_F(FilterBankTask, PredictsNumbersWithIntervals) {
  std::string text = "@problemName paces\n@targetLabel true\n@data\n";
  for (std::size_t i = 0; i < 40; ++i) {
    const double pace = 0.4 + 0.6 * double(i * 7 % 40) / 40;
    for (std::size_t t = 0; t < 30; ++t)
      text += fmt::format("{}{:.4f}", t == 0 ? "" : ",", std::sin(double(i) + double(t) * pace));
    text += fmt::format(":{:.3f}\n", 10 * pace);
  }
  const auto file = folder_.write("paces_TRAIN.ts", text);
  for (const std::string steps : {"train.steps=0", "train.steps=2"}) {
    const auto task = fitted(
        tiny_config(file, {"model.kind=filter_bank", "data.kind=labelled_series", "model.groups=2",
                           "data.labels=numbers", "data.validation=0", "train.batch=8", steps}));
    const NamedArray answer = predict(task, read_array(file, ReadOptions()));
    EXPECT_THAT(answer.columns, ElementsAre("series", "number", "number_deviation", "number_0.025",
                                            "number_0.1", "number_0.9", "number_0.975"));
    EXPECT_NEAR(answer.values(0, 1), 4, 1.5);
    EXPECT_NEAR(answer.values(0, 6) - answer.values(0, 1), 1.96 * answer.values(0, 2), 1e-3);
    const Verdict verdict = task->verdict(held_out_examples(task->data(), 1, 0));
    EXPECT_THAT(verdict.words(), HasSubstr("RMSE"));
    EXPECT_TRUE(verdict.beats_naive()) << verdict.words();
    EXPECT_THAT(page_of(*task), HasSubstr("residuals"));
  }
}

TEST_F(FilterBankTask, ShowsTheFiltersThatDecide) {
  const std::string html =
      page_of(*fitted(config({"model.pools=['winners','positive','maximum','mean']"})));
  EXPECT_THAT(html, HasSubstr("Filters that decide"));
  EXPECT_THAT(html, HasSubstr("dilation "));
}

TEST_F(FilterBankTask, RefusesOtherChannelsAndWhatCannotBeTrained) {
  const auto task = fitted(config());
  const std::string pair = "@problemName p\n@classLabel false\n@data\n1,2,3:4,5,6\n";
  EXPECT_THROW(predict(task, read_array(folder_.write("pair.ts", pair), ReadOptions())), DataError);
  EXPECT_THROW(config({"train.steps=5", "train.batch=1"}), ConfigError);
  EXPECT_THROW(config({"train.steps=5", "train.shards=2"}), ConfigError);
  EXPECT_THROW(config({"train.steps=5", "optim.ema=0.9"}), ConfigError);
}

}  // namespace filter_bank_task_test
}  // namespace bochner
