#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/train/charts/page.hpp>
#include <cmath>

#include "train/ask.hpp"
#include "train/training_run.hpp"

namespace bochner {
namespace series_model_task_test {

using testing::ElementsAre;
using testing::HasSubstr;

/// Waves of two paces, of 20 to 29 rows, some of them missing. Labels: "fast" or "slow", or 10
/// times the pace.
std::string waves(std::size_t count, bool numbers = false) {
  std::string text = numbers ? "@problemName waves\n@targetLabel true\n@data\n"
                             : "@problemName waves\n@classLabel true fast slow\n@data\n";
  for (std::size_t i = 0; i < count; ++i) {
    const double pace = numbers ? 0.3 + 0.05 * double(i % 7) : i % 2 ? 0.4 : 1.2;
    for (std::size_t t = 0; t < 20 + i % 10; ++t)
      text += (t == 0 ? "" : ",") +
              ((i + t) % 9 == 5 ? std::string("?")
                                : fmt::format("{:.4f}", std::sin(double(i) + double(t) * pace)));
    text += numbers ? fmt::format(":{}\n", 10 * pace) : i % 2 ? ":slow\n" : ":fast\n";
  }
  return text;
}

class SeriesModels : public testing::Test {
 protected:
  Config config(const std::string& kind, const std::vector<std::string>& sets = {}) const {
    const bool numbers = kind == "regressor";
    std::vector<std::string> all = {"model.kind=" + kind,
                                    "data.kind=labelled_series",
                                    "model.positions=sinusoidal",
                                    "model.patch.length=6",
                                    "model.patch.stride=3",
                                    "model.width=16",
                                    "data.validation=0.2",
                                    "train.batch=10",
                                    "optim.lr=0.01",
                                    "optim.schedule.warmup=0"};
    if (numbers) all.push_back("data.labels=numbers");
    all.insert(all.end(), sets.begin(), sets.end());
    return tiny_config(folder_.write(kind + "_TRAIN.ts", waves(70, numbers)), all);
  }
  NamedArray question(const std::string& text) const {
    return read_array(folder_.write("question.ts", text), ReadOptions());
  }
  TemporaryFolder folder_;
};

TEST_F(SeriesModels, LearnClasses) {
  const Config keys = config("classifier", {"data.augment.noise=0.05", "data.augment.crop=0.1",
                                            "model.class_weights=balanced"});
  const auto task = make_task(keys);
  EXPECT_THAT(task->learner().describe(), HasSubstr("patches of 6 rows, pooling mean"));
  train(keys, *task, 150);
  const Verdict verdict = task->verdict(held_out_examples(task->data(), 4, 0));
  EXPECT_GT(verdict.score, 0.9) << verdict.words();
  EXPECT_THAT(verdict.words(), HasSubstr("14 held-out examples; most frequent class 50.0 %"));
  const NamedArray answer = predict(task, question(waves(4)));
  EXPECT_THAT(answer.columns, ElementsAre("series", "class_fast", "class_slow"));
  for (std::size_t i = 0; i < 4; ++i) EXPECT_GT(answer.values(i, i % 2 ? 2 : 1), 0.6);
  EXPECT_THAT(page_of(*task), HasSubstr("Answers to 14 held-out examples"));
}

TEST_F(SeriesModels, LearnNumbersWithIntervals) {
  for (const std::string loss : {"gaussian", "quantile", "mse"}) {
    SCOPED_TRACE(loss);
    const Config keys = config("regressor", {"model.loss=" + loss});
    const auto task = make_task(keys);
    train(keys, *task, 300);
    ASSERT_TRUE(evaluate_task(*task, Split::validation, 10));
    task->fit_errors();
    const Evaluation held = *evaluate_task(*task, Split::validation, 10);
    EXPECT_GE(held.mean("coverage"), 0.8);
    const Verdict verdict = task->verdict(held_out_examples(task->data(), 4, 0));
    EXPECT_LT(verdict.score, 0.6 * verdict.naive[0].value) << verdict.words();
    const NamedArray answer = predict(task, question(waves(3, true)));
    if (loss == "quantile")
      EXPECT_THAT(answer.columns,
                  ElementsAre("series", "number", "number_0.1", "number_0.5", "number_0.9"));
    else
      EXPECT_THAT(answer.columns, ElementsAre("series", "number", "number_0.025", "number_0.1",
                                              "number_0.9", "number_0.975"));
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_LE(answer.values(i, 2), answer.values(i, answer.columns.size() - 1));
    EXPECT_THAT(page_of(*task), HasSubstr("residuals"));
    EXPECT_EQ(task->learner().abilities().tables->notes().empty(), loss == "quantile")
        << "14 held-out examples; 95 % needs 19";
  }
}

TEST_F(SeriesModels, SayThatIntervalsNeedHeldOutSeries) {
  const auto task = make_task(config("regressor", {"data.validation=0"}));
  EXPECT_THAT(predict(task, question(waves(3, true))).columns, ElementsAre("series", "number"));
  EXPECT_THAT(task->learner().abilities().tables->notes(),
              ElementsAre(HasSubstr("set data.validation")));
}

TEST_F(SeriesModels, RefuseLongerSeriesThanLearnedPositionsAndOtherLabels) {
  const auto task = make_task(config("classifier", {"model.positions=learned"}));
  std::string rows = "1";
  for (int t = 1; t < 41; ++t) rows += ",1";
  EXPECT_THAT(message_of<DataError>([&] {
                predict(task, question("@problemName p\n@classLabel false\n@data\n" + rows));
              }),
              HasSubstr("a series of 41 rows is longer than those whose positions are learned, of "
                        "up to 29; set model.positions = \"sinusoidal\""));
  EXPECT_THAT(message_of<ConfigError>([&] { config("classifier", {"data.labels=numbers"}); }),
              HasSubstr("model.kind = \"regressor\" for numbers"));
  EXPECT_THAT(message_of<ConfigError>([&] {
                config("regressor", {"model.loss=quantile", "model.quantiles=[0.5,0.1]"});
              }),
              HasSubstr("must ascend between 0 and 1"));
  EXPECT_THAT(message_of<ConfigError>([&] { config("regressor", {"data.labels=classes"}); }),
              HasSubstr("must be \"numbers\" with model.kind = \"regressor\""));
}

}  // namespace series_model_task_test
}  // namespace bochner
