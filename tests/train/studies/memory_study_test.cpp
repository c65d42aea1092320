#include <gmock/gmock.h>

#include <bochner/train/storage/json.hpp>
#include <bochner/train/studies/memory_study.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <cmath>

#include "train/training_run.hpp"
#include "train/well_formed.hpp"

namespace bochner {
namespace memory_study_test {

using testing::ElementsAre;
using testing::HasSubstr;

/// A task and what is in it.
struct Subject {
  Config config;
  std::unique_ptr<Task> task;
  explicit Subject(std::vector<std::string> sets) : config(with(std::move(sets))) {
    task = make_task(config);
  }
  MemoryStudy study(const MemoryOptions& options = {.probe = {.draws = 2}, .windows = 3}) {
    return study_memory(task->model(), validation_specimens(*task),
                        read_spec<StackSpec>(config, "model"), options);
  }

 private:
  static Config with(std::vector<std::string> sets) {
    sets.insert(sets.begin(), {"data.validation_examples=5", "model.positions=none"});
    return tiny_config("unused", sets);
  }
};

std::vector<std::string> mixed_language() {
  return {"data.kind=copy", "data.length=20", "model.blocks=2",
          "model.pattern=[\"linear\", \"softmax\"]", "model.mixer.time_kernel.kind=gate"};
}

TEST(MemoryStudy, LooksAtMixersBlocksAndTheModel) {
  Subject subject(mixed_language());
  const MemoryStudy study = subject.study();
  std::vector<std::string> names, mixers;
  for (const PartMemory& part : study.parts) {
    names.push_back(part.part + " " + part.name);
    if (part.part == "mixer") mixers.push_back(part.mixer);
    EXPECT_EQ(part.influence.past.square.size(), study.length) << part.name;
    EXPECT_TRUE(part.influence.ahead.square.empty()) << part.name;
    EXPECT_EQ(part.impulse.size(), part.part == "mixer" ? study.length : 0) << part.name;
  }
  EXPECT_THAT(names, ElementsAre("block blocks.0", "mixer blocks.0.mixer", "block blocks.1",
                                 "mixer blocks.1.mixer", "model model"));
  EXPECT_THAT(mixers, ElementsAre("linear", "softmax"));
  EXPECT_EQ(study.windows, 3u);
  ASSERT_EQ(study.attention.size(), 2u);
  EXPECT_TRUE(study.attention[0].by_features);
  EXPECT_FALSE(study.attention[1].by_features);
}

/// What the table does not show costs nothing there, and attention is looked at no farther than
/// the rest.
TEST(MemoryStudy, LooksNoFartherThanItIsAsked) {
  Subject subject(mixed_language());
  const MemoryOptions whole{.probe = {.draws = 2}, .windows = 3, .length = 12};
  MemoryOptions brief = whole;
  brief.table_only = true;
  const MemoryStudy study = subject.study(brief), more = subject.study(whole);
  EXPECT_EQ(memory_text(study), memory_text(more));
  for (const PartMemory& part : study.parts) EXPECT_TRUE(part.impulse.empty()) << part.name;
  EXPECT_TRUE(study.attention.empty());
  for (const HeadDecay& head : more.attention.at(0).heads) EXPECT_EQ(head.weight.size(), 12u);
}

/// The same whatever the number of threads, and the model is left as it was.
TEST(MemoryStudy, IsAFunctionOfTheRunAndTheSeed) {
  Subject subject(mixed_language());
  const std::string once = memory_json(subject.study());
  set_thread_count(2);
  EXPECT_EQ(memory_json(subject.study()), once);
  set_thread_count(0);
  const MemoryOptions other{.probe = {.draws = 2, .seed = 2}, .windows = 3};
  EXPECT_NE(memory_json(subject.study(other)), once);
  for (const NamedParameter& named : parameters_of(subject.task->model()))
    EXPECT_FALSE(named.parameter->has_gradient()) << named.name;
}

TEST(MemoryStudy, TellsTheSameInTableJsonAndPage) {
  Subject subject(mixed_language());
  const MemoryStudy study = subject.study({.windows = 100, .length = 12});
  EXPECT_EQ(study.windows, 5u);  // there are no more
  EXPECT_EQ(study.length, 12u);
  EXPECT_THAT(memory_text(study), HasSubstr("on 5 windows of 12 tokens, 16 draws each"));
  std::istringstream lines(memory_json(study));
  std::string line;
  for (const PartMemory& part : study.parts) {
    ASSERT_TRUE(std::getline(lines, line));
    const Json json = Json::parse(line);
    EXPECT_EQ(*json["probe"].text(), part.name);
    EXPECT_EQ(json["half_life"].number(), double(half_life(part.influence.by_distance())));
    EXPECT_EQ(json["lags"].items().size(), json["influence"].items().size());
    double sum = 0;
    for (const Json& share : json["share"].items()) sum += *share.number();
    EXPECT_NEAR(sum, 1, 1e-4);
  }
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(Json::parse(line)["heads"].items().size(), 2u);
  Page page("title", "subtitle");
  add_memory(page, study);
  EXPECT_EQ(XmlReader(page.html()).problem(), "");
  EXPECT_THAT(page.html(), HasSubstr("blocks.1.mixer, softmax"));
}

TEST(MemoryStudy, LooksBothWaysWhereTheModelDoes) {
  Subject subject({"model.kind=classifier", "data.kind=listops", "data.length=20"});
  const MemoryStudy study = subject.study();
  for (const PartMemory& part : study.parts)
    EXPECT_GT(part.influence.ahead.square.size(), 1u) << part.name;
  EXPECT_GT(*Json::parse(memory_json(study).substr(0, memory_json(study).find('\n')))["share_ahead"]
                 .number(),
            0.1);
}

/// Models with times, with places and with rows.
TEST(MemoryStudy, KnowsEveryModelOfBlocks) {
  for (const std::vector<std::string>& sets :
       {std::vector<std::string>{"model.kind=events", "data.kind=hawkes"},
        {"model.kind=field", "data.kind=advection_diffusion", "model.encoding.every_block=true"},
        {"data.kind=copy", "model.positions=encoding", "model.encoding.every_block=true"}}) {
    Subject subject(sets);
    const MemoryStudy study = subject.study();
    ASSERT_EQ(study.parts.size(), 3u) << sets[0];
    EXPECT_GT(study.parts.back().influence.by_distance().front(), 0) << sets[0];
  }
}

TEST(MemoryStudy, SaysWhatIsMissing) {
  Subject nothing({"data.kind=copy", "data.validation_examples=0"});
  EXPECT_THAT(message_of<std::invalid_argument>([&] { nothing.study(); }),
              HasSubstr("there is no validation data"));
}

/// Weights that fall by e each tau tokens, whatever the queries sum to.
TEST(AttentionDecay, IsThatOfTheLogits) {
  const std::size_t T = 20;
  Tensor weights = zeros({T, T});
  for (std::size_t i = 0; i < T; ++i)
    for (std::size_t j = 0; j <= i; ++j)
      weights(i, j) = float(1 + i) * std::exp(-float(i - j) / 7.f);
  const HeadDecay decay = decay_of(weights);
  for (std::size_t n = 0; n < T; ++n) EXPECT_NEAR(decay.logit[n], -double(n) / 7, 1e-5);
}

TEST(LagBins, AreSingleAtFirstAndHoldEveryLag) {
  EXPECT_THAT(lag_bins(3), ElementsAre(0, 1, 2, 3));
  const auto bins = lag_bins(1000);
  for (std::size_t i = 0; i < 17; ++i) EXPECT_EQ(bins[i], i);
  EXPECT_EQ(bins.back(), 1000u);
  EXPECT_LT(bins.size(), 60u);
  for (std::size_t i = 0; i + 1 < bins.size(); ++i) EXPECT_LT(bins[i], bins[i + 1]);
  EXPECT_THAT(binned({1, 2, 4}, {0, 1, 3}), ElementsAre(1, 3));
}

}  // namespace memory_study_test
}  // namespace bochner
