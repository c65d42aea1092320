#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/text.hpp>
#include <bochner/data/formats/array.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/text/text_scores.hpp>
#include <cmath>
#include <numeric>

#include "data/small_tokenizer.hpp"
#include "train/thread_processes.hpp"
#include "train/training_run.hpp"

namespace bochner {
namespace text_scores_test {

using testing::ElementsAre;

constexpr std::size_t length = 8;

std::unique_ptr<LanguageModel> tiny_model_of_bytes() {
  const Config config = tiny_config("text");
  auto model = std::make_unique<LanguageModel>(trunk_spec(config, length));
  initialize(*model, 1);
  return model;
}

std::vector<double> scores_of(LanguageModel& model, const std::string& text, std::size_t batch) {
  return score_texts(model, *make_byte_tokenizer(), {text}, {length}, batch)[0].log_probabilities;
}

double sum(const std::vector<double>& scores) {
  return std::accumulate(scores.begin(), scores.end(), 0.0);
}

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
  EXPECT_NEAR(sum(scores_of(*model, text, 4)), -loss * double(length), 1e-5);
}

/// Scores depend neither on the rest of the batch nor on padding after a shorter text.
TEST(TextScores, DependOnTheirTextAlone) {
  const auto model = tiny_model_of_bytes();
  const std::vector<std::string> texts = {"ab", "", "x", "a text of more than two windows",
                                          "ab\xff"};
  const auto together = score_texts(*model, *make_byte_tokenizer(), texts, {length}, 16);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::vector<double> alone = scores_of(*model, texts[i], 1);
    const std::vector<double>& among = together[i].log_probabilities;
    ASSERT_EQ(among.size(), texts[i].empty() ? 0 : texts[i].size() - 1);
    for (std::size_t t = 0; t < alone.size(); ++t) EXPECT_NEAR(among[t], alone[t], 1e-5);
  }
}

/// Carried context is that of one window over the whole text; windows see what they repeat.
TEST(TextScores, SeeAllContextOrThatOfTheirWindow) {
  const Config config = tiny_config("text", {"model.positions=rotary"});
  const auto model = std::make_unique<LanguageModel>(trunk_spec(config, length));
  initialize(*model, 1);
  const auto bytes = make_byte_tokenizer();
  const std::vector<std::string> texts = {"a text of more than two windows", "", "x", "nine byte"};
  const auto scores = [&](const TextContext& context, std::size_t batch) {
    std::vector<double> all;
    for (const TextScores& text : score_texts(*model, *bytes, texts, context, batch))
      all.insert(all.end(), text.log_probabilities.begin(), text.log_probabilities.end());
    return all;
  };
  const std::vector<double> whole = scores({64}, 4);
  for (const std::size_t batch : {1, 3}) {
    EXPECT_THAT(scores({}, batch), testing::Pointwise(testing::DoubleNear(1e-5), whole));
    EXPECT_THAT(scores({length}, batch), testing::Not(whole));
  }
  const std::vector<double> overlapping = scores({length, length - 1}, 4);
  ASSERT_EQ(overlapping.size(), whole.size());
  for (std::size_t t = 0; t < length; ++t) EXPECT_NEAR(overlapping[t], whole[t], 1e-5);
  EXPECT_THROW(scores({length, length}, 1), std::invalid_argument);
}

TEST(TextScores, AreEqualInAnyNumberOfProcesses) {
  const std::vector<std::string> texts = {"ab", "", "x", "a text of more than two windows", "abc"};
  const auto bytes = make_byte_tokenizer();
  const auto alone = score_texts(*tiny_model_of_bytes(), *bytes, texts, {length}, 2);
  for (const std::size_t count : {2, 5})
    run_processes(count, [&](Processes& processes) {
      const auto shared =
          score_texts(*tiny_model_of_bytes(), *bytes, texts, {length}, 2, processes);
      for (std::size_t i = 0; i < texts.size(); ++i)
        EXPECT_EQ(shared[i].log_probabilities, alone[i].log_probabilities);
    });
}

TEST(TextScores, SumUpToPerplexities) {
  const auto tokenizer = make_byte_tokenizer();
  const NamedArray table =
      score_table(*tokenizer, {{{1, 2, 3}, {std::log(0.5), std::log(0.125)}}, {}});
  EXPECT_THAT(table.columns,
              ElementsAre("text", "bytes", "log_probability", "perplexity", "bits_per_byte"));
  EXPECT_EQ(table.values(0, 1), 2);
  EXPECT_NEAR(table.values(0, 2), std::log(1.0 / 16), 1e-12);
  EXPECT_NEAR(table.values(0, 3), 4, 1e-12);
  EXPECT_NEAR(table.values(0, 4), 2, 1e-12);
  EXPECT_TRUE(std::isnan(table.values(1, 3)));
  const NamedArray bytes = token_table(*tokenizer, {{{'a', 'b', 'c'}, {-1, -2}}, {{'z'}, {}}});
  EXPECT_THAT(std::vector<double>(bytes.values.begin(), bytes.values.end()),
              ElementsAre(0, 2, 'b', -1, 0, 3, 'c', -2));
}

/// Bits are per byte for all tokenizers; the first token is input only.
TEST(TextScores, OfWordsCountBytes) {
  const auto pieces = small_tokenizer();
  const std::vector<std::int32_t> tokens = pieces->encode("the kernel learns");
  const std::vector<double> halves(tokens.size() - 1, std::log(0.5));
  const double bytes = 17 - double(pieces->bytes(tokens[0], true).size());
  const NamedArray table = score_table(*pieces, {{tokens, halves}});
  EXPECT_THAT(table.columns, ElementsAre("text", "tokens", "bytes", "log_probability", "perplexity",
                                         "bits_per_byte"));
  EXPECT_EQ(table.values(0, 1), double(halves.size()));
  EXPECT_EQ(table.values(0, 2), bytes);
  EXPECT_NEAR(table.values(0, 4), 2, 1e-12);
  EXPECT_NEAR(table.values(0, 5), double(halves.size()) / bytes, 1e-12);
  const NamedArray each = token_table(*pieces, {{tokens, halves}});
  EXPECT_THAT(each.columns, ElementsAre("text", "place", "token", "piece", "log_probability"));
  std::string text;
  for (const std::string& piece : each.texts.at(3)) text += piece;
  EXPECT_EQ(text, std::string("the kernel learns").substr(17 - std::size_t(bytes)));
}

/// Tables of tokens are UTF-8 for any bytes of a token.
TEST(TextScores, ShowBytesThatAreNoCharacters) {
  const auto pieces = small_tokenizer();
  const std::vector<std::int32_t> tokens = pieces->encode("na\xc3\xafve \xff");
  const NamedArray each = token_table(*pieces, {{tokens, std::vector<double>(tokens.size() - 1)}});
  std::string text;
  for (const std::string& piece : each.texts.at(3)) text += piece;
  EXPECT_THAT(text, testing::EndsWith("\\xff"));
  EXPECT_THAT(text, testing::HasSubstr("ve "));
  EXPECT_TRUE(is_utf8(text));
}

}  // namespace text_scores_test
}  // namespace bochner
