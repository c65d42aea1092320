#include <bochner/layers/basic/position_wise.hpp>
#include <bochner/layers/models/token_models.hpp>
#include <bochner/layers/module.hpp>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace initialize_test {

using namespace layer_check;

/// Module with named parts.
struct Named : Module {
  std::vector<std::pair<std::string, std::unique_ptr<Module>>> parts;
  void visit(Visitor& visitor) override {
    for (auto& [name, part] : parts) visitor(name, *part);
  }
};

Tensor value_of(Module& module, const std::string& name) {
  for (const NamedParameter& named : parameters_of(module)) {
    if (named.name == name) return named.parameter->value();
  }
  ADD_FAILURE() << "no parameter " << name;
  return {};
}

TEST(Initialize, DependsOnSeedAndNameOnly) {
  Named one, two;
  one.parts.emplace_back("a", std::make_unique<Linear>(4, 5));
  two.parts.emplace_back("z", std::make_unique<MLP>(7, 2));
  two.parts.emplace_back("a", std::make_unique<Linear>(4, 5));
  two.parts.emplace_back("b", std::make_unique<Linear>(4, 5));
  initialize(one, 3);
  initialize(two, 3);
  op_check::expect_equal_bits(value_of(one, "a.weight"), value_of(two, "a.weight"));
  EXPECT_NE(value_of(two, "a.weight"), value_of(two, "b.weight"));
  const Tensor before = value_of(one, "a.weight");
  initialize(one, 4);
  EXPECT_NE(before, value_of(one, "a.weight"));
}

TEST(Initialize, FillsTheBoundsOfTheUniformDistribution) {
  Linear layer(100, 200);
  initialize(layer, 1);
  double largest = 0, sum = 0, square = 0;
  const Tensor weight = value_of(layer, "weight");
  for (const real x : weight) {
    largest = std::max(largest, std::abs(double(x)));
    sum += double(x), square += double(x) * double(x);
  }
  EXPECT_LE(largest, 0.1 * (1 + 1e-6));
  EXPECT_GT(largest, 0.0999);
  EXPECT_NEAR(sum / 20000, 0, 5 * 0.1 / std::sqrt(3 * 20000.0));
  EXPECT_NEAR(square / 20000, 0.01 / 3, 5 * 0.01 * std::sqrt(4.0 / 45 / 20000));
}

TEST(Initialize, GivesEmbeddingsTheirDeviation) {
  Embedding layer(100, 200);
  initialize(layer, 1);
  double square = 0;
  for (const real x : value_of(layer, "weight")) square += double(x) * double(x);
  EXPECT_NEAR(square / 20000, 0.0004, 5 * 0.0004 * std::sqrt(2.0 / 20000));
}

TEST(Initialize, LeavesGainsAndDensitiesAsConstructed) {
  LanguageModelSpec spec;
  spec.blocks = 1;
  spec.block.mixer.kind = "linear";
  LanguageModel model(spec);
  initialize(model, 1);
  EXPECT_EQ(value_of(model, "norm.gain"), filled({128}, 1));
  EXPECT_EQ(value_of(model, "blocks.0.mixer.features.density.log_scale"),
            filled({4, 1, 32}, real(-1)));
}

}  // namespace initialize_test
}  // namespace bochner::inline BOCHNER_PRECISION
