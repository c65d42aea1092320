#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/optim/optimizer.hpp>
#include <cmath>
#include <numbers>

#include "optim/parameters.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace natural_gradient_test {

constexpr double tolerance = sizeof(real) == 8 ? 1e-12 : 2e-5;
constexpr std::size_t H = 2, d = 3;

/// Returns a density of two heads, and unrelated weights.
TestParameters density() {
  return TestParameters({{"0.mixer.features.density.mean", {H, 1, d}},
                         {"0.mixer.features.density.log_scale", {H, 1, d}},
                         {"0.mixer.query.weight", {d, d}}});
}

OptimizerSpec natural(const std::string& kind) {
  return {.kind = kind, .momentum = 0, .weight_decay = 0, .density_natural = true};
}

/// Minimum of the objectives below.
double wanted_mean(std::size_t i) { return 0.25 * double(i) - 0.5; }
double wanted_log_scale(std::size_t i) { return 0.1 * double(i) - 1; }

/// (mean - wanted)^2 / (2 scale^2) + (log_scale - wanted)^2 per element: the second-order
/// divergence of two Gaussians, whose curvature is the Fisher matrix. Frequencies are in units of
/// `unit`: the same function of other parameters.
void set_gradients(TestParameters& parameters, double unit) {
  for (std::size_t p = 0; p < 2; ++p) {
    Tensor gradient = zeros(parameters[p].shape());
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const double mean = unit * double(parameters[0].value().data()[i]);
      const double log_scale = double(parameters[1].value().data()[i]) + std::log(unit);
      gradient.data()[i] = real(p == 0 ? unit * (mean - wanted_mean(i)) * std::exp(-2 * log_scale)
                                       : 2 * (log_scale - wanted_log_scale(i)));
    }
    parameters[p].zero_gradient();
    add_gradient(parameters[p], std::move(gradient));
  }
}

void start(TestParameters& parameters, double unit) {
  set_normal(parameters);
  for (real& mean : parameters[0].value()) mean /= real(unit);
  for (real& log_scale : parameters[1].value()) log_scale -= real(std::log(unit));
}

TEST(NaturalGradient, FindsTheMinimumOfALinearGaussianObjectiveInOneStep) {
  TestParameters parameters = density();
  start(parameters, 1);
  const auto optimizer = make_optimizer(natural("sgd"), parameters.named());
  set_gradients(parameters, 1);
  optimizer->step(1);
  for (std::size_t i = 0; i < H * d; ++i) {
    EXPECT_NEAR(parameters[0].value().data()[i], wanted_mean(i), tolerance) << i;
    EXPECT_NEAR(parameters[1].value().data()[i], wanted_log_scale(i), tolerance) << i;
  }
}

/// The path is the same in other units of frequency; that of plain gradients is not.
TEST(NaturalGradient, TakesTheSameStepsInAnyUnits) {
  for (const char* kind : {"sgd", "adam", "adamw"}) {
    SCOPED_TRACE(kind);
    for (const bool is_natural : {true, false}) {
      OptimizerSpec spec = natural(kind);
      spec.density_natural = is_natural;
      TestParameters one = density(), other = density();
      const double unit = 4;
      start(one, 1), start(other, unit);
      const auto of_one = make_optimizer(spec, one.named());
      const auto of_other = make_optimizer(spec, other.named());
      for (std::size_t step = 0; step < 5; ++step) {
        set_gradients(one, 1), set_gradients(other, unit);
        of_one->step(0.125), of_other->step(0.125);
      }
      double difference = 0;
      for (std::size_t i = 0; i < H * d; ++i) {
        difference = std::max(difference, std::abs(double(one[0].value().data()[i]) -
                                                   unit * double(other[0].value().data()[i])));
        difference =
            std::max(difference, std::abs(double(one[1].value().data()[i]) -
                                          double(other[1].value().data()[i]) - std::log(unit)));
      }
      const double rounding = sizeof(real) == 8 ? 1e-7 : 1e-4;
      EXPECT_TRUE(is_natural ? difference < rounding : difference > 0.01) << difference;
    }
  }
}

/// Adam's first step has the direction of F^-1 g and, in units of the density, the length lr.
TEST(NaturalGradient, KeepsItsDirectionUnderAdam) {
  TestParameters parameters = density();
  start(parameters, 1);
  const std::vector<real> before = all_values(parameters);
  set_gradients(parameters, 1);
  std::vector<double> wanted;
  double squares = 0;
  for (std::size_t p = 0; p < 2; ++p)
    for (std::size_t i = 0; i < d; ++i) {
      const double unit = p == 0 ? std::exp(double(before[H * d + i])) : 1 / std::numbers::sqrt2;
      const double gradient = unit * double(parameters[p].gradient().data()[i]);
      wanted.push_back(unit * gradient);
      squares += gradient * gradient / double(2 * d);
    }
  make_optimizer(natural("adam"), parameters.named())->step(0.125);
  for (std::size_t p = 0; p < 2; ++p)
    for (std::size_t i = 0; i < d; ++i)
      EXPECT_NEAR(double(parameters[p].value().data()[i]) - double(before[p * H * d + i]),
                  -0.125 * wanted[p * d + i] / std::sqrt(squares),
                  tolerance + 1e-8);  // epsilon
}

TEST(NaturalGradient, LeavesOtherParametersAlone) {
  for (const char* kind : {"sgd", "adamw"}) {
    TestParameters with = density(), without = density();
    for (TestParameters* parameters : {&with, &without}) {
      set_normal(*parameters);
      OptimizerSpec spec = natural(kind);
      spec.density_natural = parameters == &with;
      const auto optimizer = make_optimizer(spec, parameters->named());
      set_normal_gradients(*parameters, 1);
      optimizer->step(0.125);
    }
    EXPECT_EQ(with[2].value(), without[2].value());
    EXPECT_NE(with[0].value(), without[0].value());
  }
}

TEST(NaturalGradient, NeedsADensity) {
  TestParameters parameters({{"0.mixer.query.weight", {d, d}}, {"0.norm.mean", {d}}});
  EXPECT_THAT([&] { make_optimizer(natural("sgd"), parameters.named()); },
              testing::ThrowsMessage<std::invalid_argument>(
                  testing::HasSubstr("needs a spectral density with a mean and a log_scale")));
}

}  // namespace natural_gradient_test
}  // namespace bochner::inline BOCHNER_PRECISION
