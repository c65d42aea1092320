#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/autodiff/forward_mode.hpp>
#include <bochner/autodiff/ops.hpp>
#include <bochner/optim/optimizer.hpp>

#include "optim/parameters.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace natural_cg_test {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double tolerance = sizeof(real) == 8 ? 1e-8 : 2e-3;

/// Linear regression of 3 outputs on 4 inputs by the mean squared error over 30 rows.
class Regression {
 public:
  Regression() : parameters_({{"weight", {4, 3}}, {"bias", {3}}}) { set_normal(parameters_); }

  Var loss(Tape& tape) {
    const Var x(normal_tensor({30, 4}, 11));
    return mean_squared_error(affine(x, tape(parameters_[0]), tape(parameters_[1])),
                              normal_tensor({30, 3}, 12));
  }
  double differentiate() {
    for (const NamedParameter& named : parameters_.named()) named.parameter->zero_gradient();
    Tape tape;
    const Var y = loss(tape);
    tape.backward(y);
    return double(y.value()());
  }
  void step(const OptimizerSpec& spec) {
    differentiate();
    make_optimizer(spec, parameters_.named())->step(spec.lr, {}, [&](const auto& v) {
      return fisher_product([&](Tape& tape) { return loss(tape); }, parameters_.named(), v);
    });
  }
  TestParameters& parameters() { return parameters_; }

 private:
  TestParameters parameters_;
};

OptimizerSpec spec(const NaturalCgSpec& cg) { return {.kind = "natural_cg", .lr = 1, .cg = cg}; }

TEST(NaturalCg, ReachesLeastSquaresInOneStep) {
  Regression regression;
  EXPECT_GT(regression.differentiate(), 1);
  regression.step(spec({.damping = 0, .iterations = 15}));
  EXPECT_LT(regression.differentiate(), 1.2);
  for (std::size_t i = 0; i < 2; ++i)  // the gradient vanishes only at the solution
    for (const real g : regression.parameters()[i].gradient()) EXPECT_NEAR(double(g), 0, tolerance);
}

TEST(NaturalCg, FollowsTheGradientWithMuchDamping) {
  Regression regression;
  regression.differentiate();
  const Tensor before = regression.parameters()[0].value();
  const Tensor gradient = regression.parameters()[0].gradient();
  constexpr double damping = 1e6;
  OptimizerSpec damped = spec({.damping = damping});
  damped.lr = damping;
  regression.step(damped);
  const Tensor& after = regression.parameters()[0].value();
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_NEAR(double(before.data()[i]) - double(after.data()[i]), double(gradient.data()[i]),
                1e-4);
}

TEST(NaturalCg, StaysWithinItsTrustRegion) {
  constexpr double trust = 0.01;
  Regression regression;
  const std::vector<real> before = all_values(regression.parameters());
  regression.step(spec({.damping = 0.01, .trust = trust, .iterations = 15}));
  const std::vector<real> after = all_values(regression.parameters());
  std::vector<Tensor> moved;
  std::size_t at = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    moved.push_back(zeros(regression.parameters()[i].shape()));
    for (real& number : moved.back()) number = after[at] - before[at], ++at;
  }
  const auto loss = [&](Tape& tape) { return regression.loss(tape); };
  const std::vector<Tensor> product = fisher_product(loss, regression.parameters().named(), moved);
  double curvature = 0;
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < moved[i].size(); ++j)
      curvature += double(moved[i].data()[j]) * double(product[i].data()[j]);
  EXPECT_NEAR(curvature / 2, trust, 1e-4 * trust);
}

TEST(NaturalCg, SolvesForTheOthersIfAWeightIsFixed) {
  Regression regression;
  const Tensor bias = regression.parameters()[1].value();
  OptimizerSpec fixed = spec({.damping = 0, .iterations = 15});
  fixed.groups = {{.match = "bias", .lr_factor = 0}};
  regression.step(fixed);
  EXPECT_EQ(regression.parameters()[1].value(), bias);
  regression.differentiate();
  for (const real g : regression.parameters()[0].gradient()) EXPECT_NEAR(double(g), 0, tolerance);
}

TEST(NaturalCg, RefusesWhatItCannotSolve) {
  Regression regression;
  regression.differentiate();
  const auto optimizer = make_optimizer(spec({}), regression.parameters().named());
  EXPECT_THAT([&] { optimizer->step(1); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("needs Fisher products")));
  TestParameters large({{"weight", {10'000'001}}});
  EXPECT_THAT([&] { make_optimizer(spec({}), large.named()); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("the model has 10000001 weights, more than 10000000")));
}

}  // namespace natural_cg_test
}  // namespace bochner::inline BOCHNER_PRECISION
