#include <gtest/gtest.h>

#include <bochner/optim/muon.hpp>

#include "optim/parameters.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace first_steps_test {

/// Returns how a first step with these settings moves a matrix of a hidden layer.
Tensor first_move(const OptimizerSpec& spec) {
  TestParameters parameters({{"blocks.0.mlp.input.weight", {4, 6}}});
  set_normal(parameters);
  const Tensor before = parameters[0].value();
  const auto optimizer = make_optimizer(spec, parameters.named());
  set_normal_gradients(parameters, 0);
  optimizer->step(spec.lr);
  return Tensor(before - parameters[0].value());
}

TEST(Optimizer, FixesParametersOfRateZeroWhileItLives) {
  TestParameters parameters({{"a", {2, 2}}, {"b", {2, 2}}});
  {
    const auto optimizer =
        make_optimizer({.groups = {{.match = "b", .lr_factor = 0}}}, parameters.named());
    EXPECT_TRUE(parameters[0].is_trained());
    EXPECT_FALSE(parameters[1].is_trained());
  }
  EXPECT_TRUE(parameters[1].is_trained());
}

TEST(Optimizer, MuonCanGiveEveryNeuronAnEqualStep) {
  OptimizerSpec spec{.kind = "muon", .weight_decay = 0, .lr = 0.5};
  const Tensor plain = first_move(spec);
  spec.own.of<MuonSpec>().muon.normalize = "neurons";
  const Tensor equal = first_move(spec);
  const auto squares = [](const Tensor& move, std::size_t j) {
    double sum = 0;
    for (std::size_t i = 0; i < 4; ++i) sum += double(move(i, j)) * double(move(i, j));
    return sum;
  };
  double all = 0, before = 0;
  for (std::size_t j = 0; j < 6; ++j) all += squares(equal, j), before += squares(plain, j);
  EXPECT_NEAR(all, before, 1e-5 * before);
  for (std::size_t j = 0; j < 6; ++j) EXPECT_NEAR(squares(equal, j), all / 6, 1e-5 * all);
}

TEST(Optimizer, DecayCanBeIndependentOfTheRateAndCautious) {
  OptimizerSpec spec{.weight_decay = 0, .lr = 0.25};
  const Tensor steps = first_move(spec);
  TestParameters start({{"blocks.0.mlp.input.weight", {4, 6}}});
  set_normal(start);
  const Tensor& weight = start[0].value();
  spec.weight_decay = 0.125;
  for (const char* decay : {"decoupled", "independent", "cautious"}) {
    spec.decay = decay;
    const Tensor moves = first_move(spec);
    for (std::size_t i = 0; i < weight.size(); ++i) {
      const double w = double(weight.data()[i]), move = double(steps.data()[i]);
      const double factor = decay[0] == 'i' ? 0.125 : decay[0] == 'd' || w * move > 0 ? 0.03125 : 0;
      EXPECT_NEAR(double(moves.data()[i]), move + factor * w, 1e-6) << decay;
    }
  }
}

}  // namespace first_steps_test
}  // namespace bochner::inline BOCHNER_PRECISION
