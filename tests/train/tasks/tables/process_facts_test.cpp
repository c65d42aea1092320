#include <gtest/gtest.h>

#include <bochner/train/tasks/tables/process_facts.hpp>
#include <cmath>
#include <limits>

#include "train/ask.hpp"
#include "train/training_run.hpp"

namespace bochner {
namespace process_facts_test {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

ProcessFacts some_facts() {
  ProcessFacts facts;
  facts.table = {{{{1, 2, 3, 4}, {0, 1, 0, 1}}, {5, nan, 7, 8}}, {"when", "x"}, "level", 0u};
  facts.units = {{1763000123.4567891, 86399.999999999985}, {-0.1, 3e-310}, {1.0 / 3e139, 7e139}};
  facts.components = 3;
  return facts;
}

Config config() {
  return tiny_config("unused",
                     {"model.kind=gp", "data.kind=table", "train.batch=1", "data.validation=0",
                      "model.gp.density.kind=mixture", "model.gp.density.components=0"});
}

std::unique_ptr<Learner> learner_of(const ProcessFacts& facts) {
  return make_learner(config(), {.bytes = encode_facts(facts)});
}

TEST(ProcessFacts, KeepUnitsToTheLastBit) {
  const auto learner = learner_of(some_facts());
  const auto facts = decode_facts<ProcessFacts>(learner->facts());
  EXPECT_EQ(facts.units, some_facts().units);
  EXPECT_EQ(facts.table.inputs, some_facts().table.inputs);
  EXPECT_EQ(facts.table.time, 0u);
  EXPECT_EQ(facts.table.observations.inputs, some_facts().table.observations.inputs);
  EXPECT_TRUE(std::isnan(facts.table.observations.targets[1]));
  EXPECT_EQ(learner->describe(), "gp, exact, product of mixture of 3, trend linear");
}

TEST(ProcessFacts, RefuseWhatContradictsItself) {
  expect_refuses_damaged_facts(config(), encode_facts(some_facts()));
  const auto refuses = [](const auto& change) {
    ProcessFacts facts = some_facts();
    change(facts);
    EXPECT_THROW(learner_of(facts), DataError);
  };
  refuses([](ProcessFacts& facts) { facts.components = 0; });
  refuses([](ProcessFacts& facts) { facts.components = std::uint64_t(1) << 50; });
  refuses([](ProcessFacts& facts) { facts.units.pop_back(); });
  refuses([](ProcessFacts& facts) { facts.units[1].deviation = 0; });
  refuses([](ProcessFacts& facts) { facts.units[1].mean = nan; });
  refuses([](ProcessFacts& facts) { facts.table.time = 2; });
  refuses([](ProcessFacts& facts) { facts.table.inputs.pop_back(); });
  refuses([](ProcessFacts& facts) { facts.table.observations.inputs[0].pop_back(); });
  refuses([](ProcessFacts& facts) { facts.table.observations.inputs[0][0] = nan; });
  refuses([](ProcessFacts& facts) { facts.table.observations.targets = {5, nan, nan, nan}; });
}

}  // namespace process_facts_test
}  // namespace bochner
