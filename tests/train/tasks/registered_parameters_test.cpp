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

}  // namespace registered_parameters_test
}  // namespace bochner
