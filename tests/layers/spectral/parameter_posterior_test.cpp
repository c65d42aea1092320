#include <gtest/gtest.h>

#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/spectral/density.hpp>
#include <bochner/optim/optimizer.hpp>
#include <cmath>
#include <numbers>

#include "autodiff/op_check.hpp"

/// Compares priors and posteriors with quadrature, finite differences and the normal posterior of a
/// linear model.
namespace bochner::inline BOCHNER_PRECISION {
namespace parameter_posterior_test {

using op_check::is_double;

using Form = ParameterPosterior::Form;
constexpr double prior = 1.5;
constexpr double rounding = is_double ? 1e-12 : 1e-6;

/// Three numbers in two parameters.
struct Numbers : Module {
  Parameter a{Tensor({2}, real(0.3))}, b{Tensor({1, 1}, real(-0.7))};
  void visit(Visitor& visitor) override { visitor("a", a), visitor("b", b); }
};

/// Moves all parameters.
void shake(Module& module) {
  for (const NamedParameter& named : parameters_of(module))
    for (std::size_t i = 0; i < named.parameter->value().size(); ++i)
      named.parameter->value().data()[i] += real(0.4 * std::sin(double(3 * i) + 1));
}

double normal_density(double x, double mean, double deviation) {
  const double z = (x - mean) / deviation;
  return std::exp(-z * z / 2) / (deviation * std::sqrt(2 * std::numbers::pi));
}

/// By the trapezoidal rule, which is accurate for smooth functions that vanish at the ends.
double divergence_by_quadrature(double mean, double deviation, double centre) {
  double sum = 0;
  const double step = deviation / 200;
  for (int i = -2400; i <= 2400; ++i) {
    const double x = mean + i * step, q = normal_density(x, mean, deviation);
    if (q > 0) sum += q * std::log(q / normal_density(x, centre, prior)) * step;
  }
  return sum;
}

TEST(ParameterPosterior, DivergenceOfIndependentNumbersIsTheIntegral) {
  Numbers numbers;
  ParameterPosterior posterior(parameters_of(numbers), Form::mean_field, prior);
  shake(numbers);
  shake(posterior);
  const std::vector<double> deviations = posterior.deviations();
  const double now[] = {double(numbers.a.value()(0)), double(numbers.a.value()(1)),
                        double(numbers.b.value()(0, 0))};
  const double start[] = {0.3, 0.3, -0.7};
  double expected = 0;
  for (int i = 0; i < 3; ++i)
    expected += divergence_by_quadrature(now[i], deviations[std::size_t(i)], start[i]);
  EXPECT_NEAR(posterior.divergence(), expected, (is_double ? 1e-10 : 1e-6) * expected);
}

/// (tr S / p^2 + |offset|^2 / p^2 - n + n ln p^2 - ln det S) / 2, S = L L^T.
TEST(ParameterPosterior, DivergenceOfDependentNumbersIsTheClosedForm) {
  Numbers numbers;
  ParameterPosterior posterior(parameters_of(numbers), Form::full, prior);
  shake(numbers);
  shake(posterior);
  const Tensor& factor = parameters_of(posterior)[0].parameter->value();
  double log_determinant = 0, trace = 0, away = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    log_determinant += 2 * double(factor(i, i));
    trace += std::exp(2 * double(factor(i, i)));
    for (std::size_t j = 0; j < i; ++j) trace += std::pow(double(factor(i, j)), 2);
  }
  for (const NamedParameter& named : parameters_of(numbers))
    for (const real x : named.parameter->value())
      away += std::pow(double(x) - (named.name == "a" ? 0.3 : -0.7), 2);
  const double p2 = prior * prior;
  EXPECT_NEAR(posterior.divergence(),
              (trace / p2 + away / p2 - 3 + 3 * std::log(p2) - log_determinant) / 2, rounding);
}

TEST(ParameterPosterior, OfAPointIsThePenaltyOfAPrior) {
  Numbers numbers;
  ParameterPosterior posterior(parameters_of(numbers), Form::point, prior);
  EXPECT_EQ(posterior.divergence(), 0);
  numbers.a.value()(1) += real(0.6);
  EXPECT_NEAR(posterior.divergence(), 0.36 / (2 * prior * prior), rounding);
  EXPECT_TRUE(parameters_of(posterior).empty());
  posterior.centre();
  EXPECT_EQ(posterior.divergence(), 0);
}

/// Non-quadratic loss that couples the numbers.
Var loss_of(Tape& tape, Numbers& numbers) {
  const Var a = tape(numbers.a), b = reshape(tape(numbers.b), {1});
  return sum(square(square(a)) + a * sin(b));
}

/// Returns loss(theta + L z) + share KL for the same z.
double bound_of(Numbers& numbers, ParameterPosterior& posterior, const RandomFunction& random,
                double share) {
  if (posterior.is_drawn()) posterior.draw(random);
  Tape tape({.recording = false});
  const double loss = double(loss_of(tape, numbers).value().data()[0]);
  if (posterior.is_drawn()) posterior.restore();
  return loss + share * posterior.divergence();
}

TEST(ParameterPosterior, GradientsAreThoseOfTheBound) {
  if (!is_double) GTEST_SKIP() << "differences are taken in double";
  for (const Form form : {Form::point, Form::mean_field, Form::full}) {
    Numbers numbers;
    ParameterPosterior posterior(parameters_of(numbers), form, prior);
    shake(numbers);
    shake(posterior);
    const RandomFunction random{3, Purpose::posterior, 5};
    const double share = 0.37;
    if (posterior.is_drawn()) posterior.draw(random);
    Tape tape;
    tape.backward(loss_of(tape, numbers));
    if (posterior.is_drawn()) posterior.restore();
    posterior.add_gradients(share);
    std::vector<NamedParameter> all = parameters_of(numbers);
    for (const NamedParameter& named : parameters_of(posterior)) all.push_back(named);
    for (const NamedParameter& named : all) {
      for (std::size_t i = 0; i < named.parameter->value().size(); ++i) {
        real& x = named.parameter->value().data()[i];
        const real before = x, step = real(1e-5);
        x = before + step;
        const double above = bound_of(numbers, posterior, random, share);
        x = before - step;
        const double below = bound_of(numbers, posterior, random, share);
        x = before;
        EXPECT_NEAR(double(named.parameter->gradient().data()[i]), (above - below) / 2e-5, 1e-7)
            << named.name << i << " of form " << int(form);
      }
    }
  }
}

TEST(ParameterPosterior, RestoresToTheBit) {
  Numbers numbers;
  ParameterPosterior posterior(parameters_of(numbers), Form::full, prior);
  const Tensor before = numbers.a.value();
  posterior.draw({1, Purpose::posterior, 2});
  const Tensor drawn = numbers.a.value();
  posterior.restore();
  EXPECT_NE(drawn(0), before(0));
  EXPECT_EQ(numbers.a.value(), before);
}

/// ln p(data | x) = -x^T A x / 2: the posterior has precision A + 1 / prior^2, and independent
/// numbers get 1 / its diagonal, below the diagonal of its inverse.
struct Bivariate : Module {
  Parameter x{Tensor({2}, real(0.2))};
  void visit(Visitor& visitor) override { visitor("x", x); }
};

std::vector<double> learned_deviations(Form form) {
  Bivariate model;
  ParameterPosterior posterior(parameters_of(model), form, prior);
  std::vector<NamedParameter> all = parameters_of(model);
  for (const NamedParameter& named : parameters_of(posterior)) all.push_back(named);
  OptimizerSpec spec;
  spec.kind = "sgd", spec.momentum = 0, spec.weight_decay = 0;
  const auto optimizer = make_optimizer(spec, all);
  const std::size_t steps = 30000;
  const Tensor precision{{2, 1.6}, {1.6, 3}};
  for (std::size_t i = 0; i < steps; ++i) {
    optimizer->zero_gradients();
    posterior.draw({1, Purpose::posterior, i});
    Tape tape;
    const Var x = reshape(tape(model.x), {1, 2});
    tape.backward(scale(sum(matmul(x, tape.constant(precision)) * x), real(0.5)));
    posterior.restore();
    posterior.add_gradients(1);
    optimizer->step(0.02 * (1 - double(i) / double(steps)));
  }
  return posterior.deviations();
}

TEST(ParameterPosterior, IndependentNumbersAreTooSureOfABivariateNormal) {
  const double p = 1 / (prior * prior), a = 2 + p, b = 1.6, c = 3 + p;
  const std::vector<double> apart = learned_deviations(Form::mean_field);
  EXPECT_NEAR(apart[0], std::sqrt(1 / a), 0.04 * apart[0]);
  EXPECT_NEAR(apart[1], std::sqrt(1 / c), 0.04 * apart[1]);
  const std::vector<double> together = learned_deviations(Form::full);
  const double determinant = a * c - b * b;
  EXPECT_NEAR(together[0], std::sqrt(c / determinant), 0.04 * together[0]);
  EXPECT_NEAR(together[1], std::sqrt(a / determinant), 0.04 * together[1]);
}

/// Part of the density, centred at its start; a proposal has none.
TEST(ParameterPosterior, BelongsToADensity) {
  DensitySpec spec;
  spec.heads = 2, spec.dim = 3, spec.m = 8, spec.posterior = "mean_field";
  const auto density = make_density(spec);
  initialize(*density, 1);
  density->init_log_scale({0.5, 0.25, -1});
  ASSERT_NE(density->posterior(), nullptr);
  EXPECT_EQ(parameters_of(*density).back().name, "posterior.factor");
  EXPECT_EQ(parameters_of(*density).back().parameter->shape(), (Shape{12}));
  density->posterior()->draw({1, Purpose::posterior, 1});
  density->posterior()->restore();
  const double at_start = density->posterior()->divergence();
  density->init_log_scale({0, 0, 0});
  EXPECT_NEAR(density->posterior()->divergence(), at_start, rounding);
  spec.posterior = "none";
  EXPECT_EQ(make_density(spec)->posterior(), nullptr);
  spec.posterior = "full", spec.kind = "free", spec.m = 1024;
  EXPECT_NE(op_check::error_of([&] { make_density(spec); }).find("mean_field"), std::string::npos);
}

}  // namespace parameter_posterior_test
}  // namespace bochner::inline BOCHNER_PRECISION
