#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/optim/optimizer.hpp>

#include "optim/parameters.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace groups_test {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

class Groups : public testing::Test {
 protected:
  std::vector<double> decays(const std::vector<ParameterGroup>& groups) {
    std::vector<double> values;
    for (const auto& settings : resolve_groups(parameters_.named(), 0.5, 8, groups))
      values.push_back(settings.weight_decay);
    return values;
  }
  std::vector<double> factors(const std::vector<ParameterGroup>& groups) {
    std::vector<double> values;
    for (const auto& settings : resolve_groups(parameters_.named(), 0.5, 8, groups))
      values.push_back(settings.lr_factor);
    return values;
  }

  TestParameters parameters_{{{"blocks.0.mixer.query.weight", {4, 4}},
                              {"blocks.0.mixer.query.bias", {4}},
                              {"blocks.0.mixer.features.density.mean", {2, 4}},
                              {"blocks.0.mixer.time_kernel.rate", {2, 1}},
                              {"encoding.time.coefficient", {2, 3}},
                              {"density.scale", {2, 4}}}};
};

TEST_F(Groups, DecayOnlyMatricesThatAreNotSpectral) {
  EXPECT_THAT(decays({}), ElementsAre(0.5, 0, 0, 0, 0, 0));
  EXPECT_THAT(factors({}), ElementsAre(1, 1, 8, 1, 1, 1));
}

TEST(GroupsOfFilters, AreNotDecayedAndKnowTheirDensities) {
  TestParameters parameters{{{"blocks.0.mixer.filter.past.output", {4, 4}},
                             {"blocks.0.mixer.filter.past.density.mean", {4, 1, 1}}}};
  const auto settings = resolve_groups(parameters.named(), 0.5, 8, {});
  EXPECT_EQ(settings[0].weight_decay, 0);
  EXPECT_EQ(settings[0].lr_factor, 1);
  EXPECT_EQ(settings[1].weight_decay, 0);
  EXPECT_EQ(settings[1].lr_factor, 8);
}

TEST(GroupsOfAMixer, KnowItsDensitiesWithoutAModelAroundIt) {
  for (const char* name : {"features.density.mean", "time_kernel.density.mean", "log_sharpness",
                           "features.log_scale", "filter.real.density.mean"}) {
    EXPECT_TRUE(is_density(name)) << name;
    EXPECT_TRUE(is_density("blocks.0.mixer." + std::string(name))) << name;
  }
  EXPECT_FALSE(is_density("features.hidden"));
}

TEST_F(Groups, OverrideTheDefaults) {
  EXPECT_THAT(decays({{.match = "*", .weight_decay = 0.25}}),
              ElementsAre(0.25, 0.25, 0.25, 0.25, 0.25, 0.25));
  EXPECT_THAT(factors({{.match = "*.density.*", .lr_factor = 0.25}}),
              ElementsAre(1, 1, 0.25, 1, 1, 1));
}

TEST_F(Groups, LaterOnesWinInWhatTheyName) {
  const std::vector<ParameterGroup> groups = {
      {.match = "blocks.*", .lr_factor = 2, .weight_decay = 0.125},
      {.match = "*.query.*", .lr_factor = 0},
      {.match = "*.bias", .weight_decay = 0}};
  EXPECT_THAT(factors(groups), ElementsAre(0, 0, 2, 2, 1, 1));
  EXPECT_THAT(decays(groups), ElementsAre(0.125, 0, 0.125, 0.125, 0, 0));
}

TEST_F(Groups, RefuseAPatternThatMatchesNothing) {
  EXPECT_THAT([&] { decays({{.match = "*.densty.*", .lr_factor = 0.1}}); },
              ThrowsMessage<std::invalid_argument>(AllOf(
                  HasSubstr("\"*.densty.*\" matches no parameter"), HasSubstr("bochner inspect"))));
}

TEST_F(Groups, RefuseNegativeFactors) {
  EXPECT_THROW(decays({{.match = "*", .lr_factor = -1}}), std::invalid_argument);
  EXPECT_THROW(decays({{.match = "*", .weight_decay = -1}}), std::invalid_argument);
}

}  // namespace groups_test
}  // namespace bochner::inline BOCHNER_PRECISION
