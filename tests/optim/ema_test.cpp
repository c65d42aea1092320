#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/optim/ema.hpp>
#include <bochner/optim/optimizer.hpp>

#include "autodiff/op_check.hpp"
#include "optim/parameters.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace ema_test {

real average_of(WeightAverage& average) { return average.state()[0].tensor->data()[0]; }

TEST(WeightAverage, ApproachesConstantWeightsInClosedForm) {
  TestParameters parameters({{"a", {1}}});
  WeightAverage average(parameters.named());
  parameters[0].value().data()[0] = real(2);
  for (int n = 1; n <= 50; ++n) {
    average.update(0.9, 1000000);
    EXPECT_NEAR(average_of(average), 2 * (1 - std::pow(0.9, n)), 1e-5) << n;
  }
}

TEST(WeightAverage, WarmsUp) {
  TestParameters parameters({{"a", {1}}});
  WeightAverage average(parameters.named());
  parameters[0].value().data()[0] = real(1);
  // The distance to the weights shrinks by 1/10, 2/11, 3/12, ...: n! 9! / (n + 9)!.
  double distance = 1;
  for (int n = 0; n < 5; ++n) {
    average.update(0.999, std::uint64_t(n));
    distance *= (1.0 + n) / (10.0 + n);
    EXPECT_NEAR(1 - average_of(average), distance, 1e-6) << n;
  }
}

TEST(WeightAverage, SwapsWithTheWeightsAndBack) {
  TestParameters parameters({{"a", {2, 2}}, {"b", {3}}});
  set_normal(parameters);
  WeightAverage average(parameters.named());
  const std::vector<real> start = all_values(parameters);
  for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i].value() += real(1);
  const std::vector<real> live = all_values(parameters);
  average.swap();
  EXPECT_EQ(all_values(parameters), start);
  EXPECT_TRUE(average.swapped());
  EXPECT_THROW(average.update(0.9, 0), std::invalid_argument);
  EXPECT_THROW(average.state(), std::invalid_argument);
  average.swap();
  EXPECT_EQ(all_values(parameters), live);
  EXPECT_EQ(*average.state()[1].tensor, (Tensor{start[4], start[5], start[6]}));
}

/// The step would use the live weights' gradients and destroy the average.
TEST(WeightAverage, IsNotSteppedInPlaceOfTheWeights) {
  TestParameters parameters({{"a", {2}}});
  const auto optimizer = make_optimizer({}, parameters.named());
  add_gradient(parameters[0], filled({2}, 1));
  std::optional<WeightAverage> average(parameters.named());
  const std::string problem = "[optim] step() while a holds its average; call swap() first";
  average->swap();
  EXPECT_EQ(op_check::error_of([&] { optimizer->step(0.1); }), problem);
  average->swap();
  EXPECT_NO_THROW(optimizer->step(0.1));
  average->swap();
  average.reset();  // the average stays in the weights, which become trainable
  EXPECT_NO_THROW(optimizer->step(0.1));
}

TEST(WeightAverage, GoesIntoNoPassThatAwaitsItsGradients) {
  TestParameters parameters({{"a", {2}}});
  WeightAverage average(parameters.named());
  Tape tape;
  const Var y = sum(square(tape(parameters[0])));
  average.swap();
  EXPECT_THAT(op_check::error_of([&] { tape.backward(y); }),
              testing::StartsWith("[backward] a parameter (2) changed"));
}

TEST(WeightAverage, ContinuesToTheSameBitsFromItsState) {
  TestParameters parameters({{"a", {40, 30}}, {"b", {3}}});
  WeightAverage average(parameters.named()), restored(parameters.named());
  for (std::size_t step = 0; step < 6; ++step) {
    for (std::size_t i = 0; step == 3 && i < 2; ++i)
      *restored.state()[i].tensor = *average.state()[i].tensor;
    for (std::size_t i = 0; i < 2; ++i)
      parameters[i].value() = normal_tensor(parameters[i].shape(), 10 * step + i);
    average.update(0.5, step);
    if (step >= 3) restored.update(0.5, step);
  }
  EXPECT_EQ(average.state()[0].name, "ema/a");
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(*average.state()[i].tensor, *restored.state()[i].tensor);
}

TEST(WeightAverage, GivesTheSameBitsForAnyNumberOfThreads) {
  std::vector<Tensor> results;
  for (std::size_t threads : {1, 2, 3, 4}) {
    set_thread_count(threads);
    TestParameters parameters({{"a", {333, 300}}, {"b", {5}}});
    WeightAverage average(parameters.named());
    set_normal(parameters);
    average.update(0.3, 0);
    results.push_back(*average.state()[0].tensor);
    EXPECT_EQ(results.back(), results.front()) << threads << " threads";
  }
  set_thread_count(0);
}

TEST(WeightAverage, RefusesWeightsOfAnotherShape) {
  TestParameters parameters({{"a", {2}}});
  WeightAverage average(parameters.named());
  parameters.named()[0].parameter->assign(zeros({3}));
  const std::string problem = "[ema] a changed its shape from (2) to (3); make a new average";
  EXPECT_EQ(op_check::error_of([&] { average.update(0.5, 0); }), problem);
  EXPECT_EQ(op_check::error_of([&] { average.swap(); }), problem);
}

TEST(WeightAverage, NeedsADecayBelowOne) {
  TestParameters parameters({{"a", {1}}});
  WeightAverage average(parameters.named());
  EXPECT_THROW(average.update(1, 0), std::invalid_argument);
  EXPECT_THROW(average.update(-0.1, 0), std::invalid_argument);
}

TEST(WeightAverage, RefusesAParameterListedTwice) {
  TestParameters parameters({{"a", {2}}});
  std::vector<NamedParameter> named = parameters.named();
  named.push_back({"tied", named[0].parameter});
  EXPECT_EQ(op_check::error_of([&] { WeightAverage average(named); }),
            "[optim] tied is the same parameter as a; list it once");
}

}  // namespace ema_test
}  // namespace bochner::inline BOCHNER_PRECISION
