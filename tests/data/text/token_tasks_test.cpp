#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/data/text/token_tasks.hpp>
#include <cmath>
#include <map>
#include <set>

#include "data/batches.hpp"
#include "data/messages.hpp"

namespace bochner {
namespace token_tasks_test {

using testing::HasSubstr;

constexpr std::uint64_t seed = 3;

Draws draws_of(std::uint64_t index) {
  return draws_of(ExampleSet{seed, 1000, 1000}, Split::validation, index);
}

std::vector<std::size_t> answers(const Questions& questions) {
  std::vector<std::size_t> places;
  for (std::size_t t = 0; t < questions.tokens.size(); ++t)
    if (questions.is_answer[t]) places.push_back(t);
  return places;
}

/// Returns sequences of one spec, checked for length and vocabulary.
std::vector<Questions> sequences(const TokenTaskSpec& spec, std::uint64_t count = 200) {
  std::vector<Questions> all;
  for (std::uint64_t i = 0; i < count; ++i) {
    all.push_back(token_tasks().make(spec.kind, spec)->make(draws_of(i)));
    EXPECT_EQ(all.back().tokens.size(), spec.length + 1);
    EXPECT_EQ(all.back().is_answer.size(), spec.length + 1);
    for (const std::int32_t token : all.back().tokens)
      EXPECT_TRUE(token >= 0 && std::size_t(token) < spec.vocabulary) << token;
  }
  return all;
}

TEST(TokenTasks, CopyRepeatsWhatStandsBeforeTheMarker) {
  for (const std::size_t length : {2, 9, 10}) {
    const std::size_t n = length / 2;
    for (const Questions& questions : sequences({"copy", length, 7})) {
      const auto& tokens = questions.tokens;
      const auto places = answers(questions);
      ASSERT_EQ(places.size(), n);
      EXPECT_EQ(places.front(), length + 1 - n);
      EXPECT_EQ(tokens[places.front() - 1], 6);
      for (const std::size_t place : places) {
        EXPECT_EQ(tokens[place], tokens[place - n - 1]);
        EXPECT_LT(tokens[place], 6);
      }
    }
  }
}

TEST(TokenTasks, SelectiveCopyRepeatsTheSymbolsInTheirOrder) {
  std::set<std::size_t> first_places;
  for (const Questions& questions : sequences({"selective_copy", 30, 8, 5})) {
    std::vector<std::int32_t> told, asked;
    for (std::size_t t = 0; t < questions.tokens.size(); ++t) {
      const std::int32_t token = questions.tokens[t];
      if (questions.is_answer[t]) asked.push_back(token);
      if (!questions.is_answer[t] && token < 6) {
        if (told.empty()) first_places.insert(t);
        told.push_back(token);
      }
    }
    EXPECT_EQ(told.size(), 5u);
    EXPECT_EQ(told, asked);
    EXPECT_EQ(questions.tokens[25], 7);
  }
  EXPECT_GT(first_places.size(), 5u);
}

TEST(TokenTasks, RecallAsksForAKeyThatHasOccurred) {
  std::map<std::int32_t, int> asked;
  for (const Questions& questions : sequences({"recall", 42, 20}, 1000)) {
    std::map<std::int32_t, std::int32_t> map;
    const auto& tokens = questions.tokens;
    ASSERT_EQ(answers(questions), std::vector<std::size_t>{42});
    EXPECT_EQ(tokens[40], 19);
    for (std::size_t t = 0; t < 40; t += 2) {
      EXPECT_LT(tokens[t], 9);
      EXPECT_TRUE(tokens[t + 1] >= 9 && tokens[t + 1] < 18);
      EXPECT_EQ(map.emplace(tokens[t], tokens[t + 1]).first->second, tokens[t + 1]);
    }
    ASSERT_TRUE(map.contains(tokens[41]));
    EXPECT_EQ(tokens[42], map[tokens[41]]);
    ++asked[tokens[42]];
  }
  ASSERT_EQ(asked.size(), 9u);
  for (const auto& [value, times] : asked)
    EXPECT_NEAR(times, 1000 / 9.0, 5 * std::sqrt(1000 / 9.0));
}

TEST(TokenTasks, MultiQueryRecallAsksForEachPairOnce) {
  std::set<std::vector<std::size_t>> layouts;
  for (const std::size_t length : {255, 256, 301}) {
    for (const Questions& questions : sequences({"multi_query_recall", length, 128, 64}, 20)) {
      const std::size_t first = length % 2 == 0 ? 1 : 0;
      const auto& tokens = questions.tokens;
      std::map<std::int32_t, std::int32_t> map;
      std::set<std::int32_t> values;
      for (std::size_t t = first; t < first + 128; t += 2) {
        map[tokens[t]] = tokens[t + 1];
        values.insert(tokens[t + 1]);
      }
      ASSERT_EQ(map.size(), 64u);
      ASSERT_EQ(values.size(), 64u);
      std::set<std::int32_t> asked;
      for (const std::size_t place : answers(questions)) {
        EXPECT_EQ(tokens[place], map.at(tokens[place - 1]));
        asked.insert(tokens[place - 1]);
      }
      EXPECT_EQ(asked.size(), 64u);
      layouts.insert(answers(questions));
    }
  }
  // If all slots are questions there is one layout; with noise between them there are many.
  EXPECT_GT(layouts.size(), 10u);
}

/// One pair in five slots: the first token after it is noise, a question, or the answer's value.
TEST(TokenTasks, MultiQueryRecallAsksEarlyByAPowerLaw) {
  const std::uint64_t count = 4000;
  for (const double power : {0.01, 0.5, 2.0}) {
    TokenTaskSpec spec{"multi_query_recall", 11, 8, 1};
    spec.gap_power = power;
    std::vector<double> asked(5), weight;
    for (const Questions& questions : sequences(spec, count)) {
      ASSERT_EQ(answers(questions).size(), 1u);
      ++asked[(answers(questions)[0] - 3) / 2];
    }
    double sum = 0;
    for (int slot = 1; slot <= 5; ++slot) weight.push_back(std::pow(slot, power - 1));
    for (const double w : weight) sum += w;
    for (int slot = 0; slot < 5; ++slot) {
      const double p = weight[slot] / sum;
      EXPECT_NEAR(asked[slot], count * p, 5 * std::sqrt(count * p * (1 - p))) << power;
    }
  }
}

TEST(TokenTasks, MultiQueryRecallAsksForEachPairOnceByAPowerLaw) {
  TokenTaskSpec spec{"multi_query_recall", 64, 256, 8};
  spec.gap_power = 0.01, spec.filled_with_all = true;
  bool keys_in_noise = false;
  for (const Questions& questions : sequences(spec)) {
    const auto& tokens = questions.tokens;
    const std::vector<std::size_t> places = answers(questions);
    std::map<std::int32_t, std::int32_t> map;
    for (std::size_t t = 1; t < 17; t += 2) map[tokens[t]] = tokens[t + 1];
    std::set<std::int32_t> asked;
    for (const std::size_t place : places) {
      EXPECT_EQ(tokens[place], map.at(tokens[place - 1]));
      asked.insert(tokens[place - 1]);
    }
    EXPECT_EQ(asked.size(), 8u);
    for (std::size_t t = 18; t < tokens.size(); t += 2)
      keys_in_noise = keys_in_noise || (!questions.is_answer[t] && tokens[t] < 128);
  }
  EXPECT_TRUE(keys_in_noise);
}

TEST(TokenTasks, InductionAsksForWhatFollowedTheMarker) {
  std::set<std::size_t> places;
  for (const Questions& questions : sequences({"induction", 20, 6})) {
    const auto& tokens = questions.tokens;
    ASSERT_EQ(answers(questions), std::vector<std::size_t>{20});
    EXPECT_EQ(tokens[19], 5);
    EXPECT_EQ(std::count(tokens.begin(), tokens.begin() + 19, 5), 1);
    const auto marker = std::find(tokens.begin(), tokens.end(), 5);
    EXPECT_EQ(tokens[20], *(marker + 1));
    places.insert(std::size_t(marker - tokens.begin()));
  }
  EXPECT_EQ(*places.begin(), 0u);
  EXPECT_EQ(*places.rbegin(), 17u);
}

TEST(TokenTasks, ExistAtTheirSmallestSizesAndNotBelow) {
  for (const std::string& kind : token_tasks().names()) {
    TokenTaskSpec spec{kind, 100, 100, 3};
    spec.length = token_tasks().make(kind, spec)->smallest_length();
    spec.vocabulary = token_tasks().make(kind, spec)->smallest_vocabulary();
    sequences(spec);
    --spec.length;
    EXPECT_THROW(TokenTasks(spec, {}), std::invalid_argument) << kind;
    ++spec.length, --spec.vocabulary;
    EXPECT_THROW(TokenTasks(spec, {}), std::invalid_argument) << kind;
  }
}

TEST(TokenTasks, SayWhatIsTooSmall) {
  EXPECT_EQ(message_of<std::invalid_argument>([] {
              TokenTasks({"multi_query_recall", 200, 128, 64}, {});
            }),
            "[token_tasks] data.length = 200: multi_query_recall of 64 items needs at least 255");
  EXPECT_THROW(TokenTasks({"forget", 200, 128, 64}, {}), std::invalid_argument);
}

/// A program's own task: counts up from a drawn token, and asks for the last one.
class Counting : public TokenGenerator {
 public:
  explicit Counting(const TokenTaskSpec& spec) : length_(spec.length), items_(spec.items) {}
  Questions make(Draws draws) const override {
    Questions made;
    const std::size_t first = draws.below(3);
    for (std::size_t t = 0; t <= length_; ++t) made.tokens.push_back(std::int32_t(first + t));
    made.is_answer.assign(items_ == 1 ? length_ + 1 : length_, false);
    made.is_answer.back() = true;
    return made;
  }

 private:
  std::size_t length_, items_;
};

TEST(TokenTasks, OneOfAProgramIsChosenByName) {
  token_tasks().add("counting", make<Counting>);
  const auto batch = [](const TokenTaskSpec& spec) {
    const TokenTasks tasks(spec, {seed, 100, 5});
    return tasks.batch(tasks.training(0, 4));
  };
  TokenTaskSpec spec{"counting", 4, 7, 1};
  const Batch four = batch(spec);
  for (std::size_t row = 0; row < 4; ++row) {
    EXPECT_EQ(four.targets.values[4 * row + 2], TokenTasks::not_asked);
    EXPECT_EQ(four.targets.values[4 * row + 3], four.inputs.values[4 * row] + 4);
  }
  const auto why = [&](const TokenTaskSpec& wrong) {
    return message_of<std::invalid_argument>([&] { batch(wrong); });
  };
  EXPECT_EQ(why({"counting", 9, 7, 1}),
            "[token_tasks] \"counting\" made the token 7; data.vocabulary = 7");
  EXPECT_EQ(why({"counting", 4, 7, 2}),
            "[token_tasks] \"counting\" made 5 tokens, 4 marks of answers and 5 answers instead of "
            "5 each");
}

TEST(TokenTasks, BatchesHoldTheSequencesAndAskForAnswersOnly) {
  const TokenTaskSpec spec{"copy", 10, 7};
  const TokenTasks tasks(spec, {seed, 100, 5});
  const Batch batch = held_out_batch(tasks, 1, 3);
  ASSERT_EQ(batch.inputs.shape, (Shape{2, 10}));
  for (std::size_t row = 0; row < 2; ++row) {
    const Questions questions = token_tasks().make(spec.kind, spec)->make(draws_of(3 + row));
    for (std::size_t t = 0; t < 10; ++t) {
      EXPECT_EQ(batch.inputs.values[10 * row + t], questions.tokens[t]);
      EXPECT_EQ(batch.targets.values[10 * row + t],
                t < 5 ? TokenTasks::not_asked : questions.tokens[t + 1]);
    }
  }
}

TEST(TokenTasks, TrainOnEveryTokenWhereThatIsWanted) {
  TokenTaskSpec spec{"copy", 10, 7};
  spec.only_answers = false;
  const TokenTasks tasks(spec, {seed, 100, 5});
  const Batch batch = training_batch(tasks, 0, 1);
  for (std::size_t t = 0; t + 1 < 10; ++t)
    EXPECT_EQ(batch.targets.values[t], batch.inputs.values[t + 1]);
  EXPECT_EQ(held_out_batch(tasks, 0, 1).targets.values[0], TokenTasks::not_asked);
}

TEST(TokenTasks, ValidateAtAnotherLength) {
  TokenTaskSpec spec{"induction", 10, 7};
  const TokenTasks same(spec, {seed, 100, 5});
  spec.validation_length = 300;
  const TokenTasks longer(spec, {seed, 100, 5});
  EXPECT_EQ(training_batch(longer, 0, 3).inputs.values, training_batch(same, 0, 3).inputs.values);
  const Batch batch = held_out_batch(longer, 0, 3);
  ASSERT_EQ(batch.inputs.shape, (Shape{3, 300}));
  spec.length = 300;
  EXPECT_EQ(std::vector(batch.inputs.values.begin(), batch.inputs.values.begin() + 300), [&] {
    auto tokens = token_tasks().make(spec.kind, spec)->make(draws_of(0)).tokens;
    tokens.pop_back();
    return tokens;
  }());
  EXPECT_EQ(longer.fingerprint(), same.fingerprint());
  EXPECT_THAT(longer.words(), HasSubstr("induction, 10 tokens of 7, 300 to validate"));
  spec.validation_length = 2;
  EXPECT_EQ(message_of<std::invalid_argument>([&] { TokenTasks(spec, {}); }),
            "[token_tasks] data.validation_length = 2: induction of 16 items needs at least 3");
}

TEST(TokenTasks, FingerprintsDifferWhereverTheExamplesDo) {
  const TokenTaskSpec base{"copy", 10, 7, 4};
  std::vector<TokenTaskSpec> others(7, base);
  others[0].kind = "selective_copy";
  others[1].length = 11;
  others[2].vocabulary = 8;
  others[3].items = 3;
  others[4].only_answers = false;
  others[5].gap_power = 0.5;
  others[6].filled_with_all = true;
  std::set<std::uint64_t> all;
  for (const TokenTaskSpec& spec : others) all.insert(TokenTasks(spec, {1, 9, 9}).fingerprint());
  for (const ExampleSet& set : {ExampleSet{1, 9, 9}, {2, 9, 9}, {1, 8, 9}, {1, 9, 8}})
    all.insert(TokenTasks(base, set).fingerprint());
  EXPECT_EQ(all.size(), 11u);
  EXPECT_EQ(TokenTasks(base, {1, 9, 9}).fingerprint(), TokenTasks(base, {1, 9, 9}).fingerprint());
}

}  // namespace token_tasks_test
}  // namespace bochner
