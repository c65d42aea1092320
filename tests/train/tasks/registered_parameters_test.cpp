#include <gtest/gtest.h>

#include <bochner/layers/features/feature_map.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <stdexcept>

namespace bochner {
namespace registered_parameters_test {

struct EchoSpec {
  double strength = 1;
};
void describe(Keys& keys, EchoSpec& spec) { keys("strength", spec.strength, "of the echo"); }

struct Echo : FeatureMap {
  Echo(const FeatureSpec&, const EchoSpec&) {}
  Features features(Tape&, const Var&) override { throw std::logic_error("unused"); }
  void visit(Visitor&) override {}
};

TEST(RegisteredParameters, FollowTheRegistries) {
  const auto is_known = [] {
    return registered_parameters().find("model.mixer.features.strength") != nullptr;
  };
  EXPECT_FALSE(is_known());
  const FeatureMaps others = feature_maps();
  feature_maps().add("echo", make<Echo, EchoSpec>);
  EXPECT_TRUE(is_known());
  feature_maps() = others;
  EXPECT_FALSE(is_known());
}

/// Returns the error of a config with the map "echo".
std::string error_with(const std::string& setting) try {
  read_config_text("data.files = [\"a\"]\nmodel.mixer.kind = \"linear\"\n", "a.toml",
                   {"model.mixer.features=echo", setting});
  return "no error";
} catch (const ConfigError& error) {
  return error.what();
}

TEST(RegisteredParameters, OfADensityNeedAMapThatDrawsFromIt) {
  const FeatureMaps others = feature_maps();
  feature_maps().add("echo", make<Echo, EchoSpec>);
  EXPECT_EQ(error_with("model.mixer.m=8"), "no error");
  for (const char* setting : {"model.mixer.density=cauchy", "model.mixer.draws=sobol",
                              "model.mixer.features.projection=sorf"})
    EXPECT_NE(error_with(setting).find("echo"), std::string::npos) << error_with(setting);
  feature_maps() = others;
}

}  // namespace registered_parameters_test
}  // namespace bochner
