#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/train/charts/page.hpp>
#include <cmath>

#include "train/ask.hpp"
#include "train/training_run.hpp"
#include "train/well_formed.hpp"

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
  std::string page_of(Task& task) const {
    Page page("run", "");
    task.illustrate(page);
    EXPECT_EQ(XmlReader(page.html()).problem(), "");
    return page.html();
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

TEST_F(FilterBankTask, RefusesOtherChannelsAndSteps) {
  const auto task = fitted(config());
  const std::string pair = "@problemName p\n@classLabel false\n@data\n1,2,3:4,5,6\n";
  EXPECT_THROW(predict(task, read_array(folder_.write("pair.ts", pair), ReadOptions())), DataError);
  EXPECT_THROW(config({"train.steps=5"}), ConfigError);
}

}  // namespace filter_bank_task_test
}  // namespace bochner
