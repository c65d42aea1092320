#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/optim/optimizer.hpp>
#include <cmath>

#include "optim/parameters.hpp"

/// Langevin dynamics of the loss a x^2 / 2.
namespace bochner::inline BOCHNER_PRECISION {
namespace langevin_test {

constexpr std::size_t numbers = 4000;

OptimizerSpec spec_of(double temperature, std::uint64_t seed = 1) {
  return {.kind = "langevin", .weight_decay = 0, .temperature = temperature, .seed = seed};
}

void follow(TestParameters& parameters, Optimizer& optimizer, double a, double rate,
            std::size_t steps) {
  for (std::size_t step = 0; step < steps; ++step) {
    Tensor gradient = parameters[0].value();
    gradient *= real(a);
    parameters[0].zero_gradient();
    add_gradient(parameters[0], gradient);
    optimizer.step(rate);
  }
}

/// x' = (1 - r a) x + sqrt(2 r T) z has the limiting variance T / (a (1 - r a / 2)).
TEST(Langevin, VisitsANormalPosterior) {
  TestParameters parameters({{"x", {numbers}}});
  const double a = 2, rate = 0.1, temperature = 0.3;
  const auto optimizer = make_optimizer(spec_of(temperature), parameters.named());
  follow(parameters, *optimizer, a, rate, 100);
  double squares = 0, cubes = 0;
  for (const real x : parameters[0].value()) {
    squares += double(x) * double(x);
    cubes += std::pow(double(x), 3);
  }
  const double variance = temperature / (a * (1 - rate * a / 2));
  EXPECT_NEAR(squares / numbers, variance, 5 * variance * std::sqrt(2.0 / numbers));
  EXPECT_NEAR(cubes / numbers, 0, 5 * std::pow(variance, 1.5) * std::sqrt(15.0 / numbers));
}

/// Noise is a function of seed, name, update and element.
TEST(Langevin, DrawsDependOnNeitherThreadsNorHistory) {
  std::vector<std::vector<real>> found;
  for (const std::size_t threads : {1, 3}) {
    set_thread_count(threads);
    TestParameters parameters({{"x", {100000}}, {"y", {5}}});
    const auto optimizer = make_optimizer(spec_of(1, 7), parameters.named());
    follow(parameters, *optimizer, 1, 0.01, 3);
    found.push_back(all_values(parameters));
  }
  set_thread_count(0);
  EXPECT_EQ(found[0], found[1]);
  TestParameters other({{"x", {100000}}, {"y", {5}}});
  const auto optimizer = make_optimizer(spec_of(1, 8), other.named());
  follow(other, *optimizer, 1, 0.01, 3);
  EXPECT_NE(all_values(other), found[0]);
}

TEST(Langevin, EndsBeforeItsNoiseComesAgain) {
  TestParameters parameters({{"x", {2}}});
  const auto optimizer = make_optimizer(spec_of(1), parameters.named());
  const double countable = std::pow(2, std::numeric_limits<real>::digits);
  optimizer->state()[0].tensor->data()[0] = real(countable - 2);
  follow(parameters, *optimizer, 1, 0.01, 1);
  EXPECT_THAT(
      [&] { follow(parameters, *optimizer, 1, 0.01, 1); },
      testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr("repeat the noise")));
}

TEST(Langevin, NeedsATemperature) {
  TestParameters parameters({{"x", {2}}});
  EXPECT_THAT([&] { make_optimizer(spec_of(0), parameters.named()); },
              testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr("temperature = 0")));
}

/// Neither two parameters of one step, nor pieces of a large one, share noise.
TEST(Langevin, NoNumberHasTheNoiseOfAnother) {
  TestParameters parameters({{"x", {100000}}, {"y", {100000}}});
  const auto optimizer = make_optimizer(spec_of(1), parameters.named());
  for (std::size_t p = 0; p < 2; ++p) {
    parameters[p].value().fill(0);
    add_gradient(parameters[p], zeros({100000}));
  }
  optimizer->step(0.01);
  std::vector<real> all = all_values(parameters);
  std::ranges::sort(all);
  const auto repeated = std::ranges::unique(all);
  EXPECT_LT(repeated.size(), 5000u);  // few numbers are equal by chance
}

}  // namespace langevin_test
}  // namespace bochner::inline BOCHNER_PRECISION
