#include <gtest/gtest.h>

#include <bochner/optim/optimizer.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace registered_parameters_test {

double density_factor(const Config& config) { return config.number("optim.density_lr_factor"); }

TEST(StoredConfig, ReadsKeysYoungerThanTheRunAsItsTimeDid) {
  EXPECT_EQ(density_factor(Config(registered_parameters())), OptimizerSpec().density_lr_factor);
  EXPECT_EQ(density_factor(stored_config("", "config.toml")), 1);
  EXPECT_EQ(density_factor(stored_config("[optim]\ndensity_lr_factor = 7\n", "config.toml")), 7);
}

}  // namespace registered_parameters_test
}  // namespace bochner::inline BOCHNER_PRECISION
