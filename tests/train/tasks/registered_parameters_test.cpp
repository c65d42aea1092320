#include <gtest/gtest.h>

#include <bochner/layers/features/feature_map.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace registered_parameters_test {

std::size_t refit(const Config& config) { return config.count("model.mixer.features.refit"); }

TEST(StoredConfig, ReadsKeysYoungerThanTheRunAsItsTimeDid) {
  const std::string with = "[model.mixer.features]\nrefit = 7\n";
  EXPECT_EQ(refit(Config(registered_parameters())), FeatureSpec().refit);
  EXPECT_EQ(refit(stored_config("", "config.toml")), 0u);
  EXPECT_EQ(refit(stored_config(with, "config.toml")), 7u);
}

}  // namespace registered_parameters_test
}  // namespace bochner::inline BOCHNER_PRECISION
