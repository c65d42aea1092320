#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/data/formats/array.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/text_scores.hpp>
#include <cmath>
#include <numeric>

#include "train/thread_processes.hpp"
#include "train/training_run.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace text_scores_test {

using testing::ElementsAre;

constexpr std::size_t length = 8;

std::unique_ptr<LanguageModel> tiny_model_of_bytes() {
  const Config config = tiny_config("text");
  return make_language_model(trunk_spec(config, length), 1);
}

double sum(const ByteScores& scores) { return std::accumulate(scores.begin(), scores.end(), 0.0); }

TEST(TextScores, AreTheLossOfAWindow) {
  const auto model = tiny_model_of_bytes();
  const std::string text = "nine byte";
  Indices inputs{{1, length}, {}}, targets = inputs;
  for (std::size_t t = 0; t < length; ++t) {
    inputs.values.push_back(text[t]);
    targets.values.push_back(text[t + 1]);
  }
  Tape tape;
  const double loss = double(model->loss(tape, inputs, targets).value().data()[0]);
  EXPECT_NEAR(sum(score_texts(*model, {text}, length, 4)[0]), -loss * double(length), 1e-5);
}

/// Neither what else is in a batch nor the padding behind a shorter text counts.
TEST(TextScores, DependOnTheirTextAlone) {
  const auto model = tiny_model_of_bytes();
  const std::vector<std::string> texts = {"ab", "", "x", "a text of more than two windows",
                                          "ab\xff"};
  const auto together = score_texts(*model, texts, length, 16);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const ByteScores alone = score_texts(*model, {texts[i]}, length, 1)[0];
    ASSERT_EQ(together[i].size(), texts[i].empty() ? 0 : texts[i].size() - 1);
    for (std::size_t t = 0; t < alone.size(); ++t) EXPECT_NEAR(together[i][t], alone[t], 1e-5);
  }
}

TEST(TextScores, AreEqualInAnyNumberOfProcesses) {
  const std::vector<std::string> texts = {"ab", "", "x", "a text of more than two windows", "abc"};
  const auto alone = score_texts(*tiny_model_of_bytes(), texts, length, 2);
  for (const std::size_t count : {2, 5})
    run_processes(count, [&](Processes& processes) {
      EXPECT_EQ(score_texts(*tiny_model_of_bytes(), texts, length, 2, processes), alone);
    });
}

TEST(TextScores, SumUpToPerplexities) {
  const NamedArray table = score_table({{std::log(0.5), std::log(0.125)}, {}});
  EXPECT_THAT(table.columns,
              ElementsAre("text", "bytes", "log_probability", "perplexity", "bits_per_byte"));
  EXPECT_EQ(table.values(0, 1), 2);
  EXPECT_NEAR(table.values(0, 2), std::log(1.0 / 16), 1e-12);
  EXPECT_NEAR(table.values(0, 3), 4, 1e-12);
  EXPECT_NEAR(table.values(0, 4), 2, 1e-12);
  EXPECT_TRUE(std::isnan(table.values(1, 3)));
  const NamedArray bytes = byte_table({"abc", "z"}, {{-1, -2}, {}});
  EXPECT_THAT(std::vector<double>(bytes.values.begin(), bytes.values.end()),
              ElementsAre(0, 2, 'b', -1, 0, 3, 'c', -2));
}

}  // namespace text_scores_test
}  // namespace bochner::inline BOCHNER_PRECISION
