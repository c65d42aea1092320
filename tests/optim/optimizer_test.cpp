#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/optim/ema.hpp>
#include <bochner/optim/muon.hpp>
#include <map>

#include "optim/parameters.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace optimizer_test {

using testing::HasSubstr;
using testing::ThrowsMessage;
using Trajectory = std::vector<std::vector<double>>;

/// Computed by Python in double with tests/golden/optimizers.py, which defines the problem.
const std::map<std::string, Trajectory> golden = {
#include "golden/optimizers.inc"
};

constexpr std::size_t unknowns = 12;
constexpr double tolerance = sizeof(real) == 8 ? 1e-12 : 5e-5;

/// The problem of the golden numbers: gradient A x - b.
class Quadratic {
 public:
  Quadratic() : parameters_({{"0.weight", {2, 3}}, {"0.bias", {3}}, {"0.time_kernel.rate", {3}}}) {
    std::size_t i = 0;
    for (std::size_t k = 0; k < parameters_.size(); ++k)
      for (real& x : parameters_[k].value()) x = real((5 * i++ % 9 - 4.0) / 4);
  }

  void set_gradients(bool without_bias) {
    const std::vector<real> x = all_values(parameters_);
    std::size_t i = 0;
    for (std::size_t k = 0; k < parameters_.size(); ++k) {
      Tensor gradient = zeros(parameters_[k].shape());
      for (real& g : gradient) g = real(row(i++, x));
      parameters_[k].zero_gradient();
      if (!(without_bias && k == 1)) add_gradient(parameters_[k], gradient);
    }
  }
  TestParameters& parameters() { return parameters_; }

 private:
  static double row(std::size_t i, const std::vector<real>& x) {
    double sum = -(double(i % 4) - 1.5) / 2;
    for (std::size_t j = 0; j < unknowns; ++j) {
      const double diagonal = i == j ? 1 + double(i) / 4 : 0;
      sum += ((double((3 * i + 5 * j) % 7) - 3) / 16 + diagonal) * double(x[j]);
    }
    return sum;
  }

  TestParameters parameters_;
};

/// Returns the weights after each step, or their average if there is one.
Trajectory run(Quadratic& problem, Optimizer& optimizer, bool gaps, double warmup = 1,
               WeightAverage* average = nullptr) {
  Trajectory rows;
  for (std::size_t step = 0; step < 20; ++step) {
    problem.set_gradients(gaps && step % 5 == 3);
    optimizer.step(0.03125 * std::min(1.0, double(step + 1) / warmup));
    if (average) average->update(optimizer.average_shares()), average->swap();
    const std::vector<real> x = all_values(problem.parameters());
    rows.emplace_back(x.begin(), x.end());
    if (average) average->swap();
  }
  return rows;
}

double worst_difference(const Trajectory& a, const Trajectory& b) {
  double worst = 0;
  for (std::size_t step = 0; step < 20; ++step)
    for (std::size_t i = 0; i < unknowns; ++i)
      worst = std::max(worst, std::abs(a.at(step).at(i) - b.at(step).at(i)));
  return worst;
}

struct GoldenCase {
  std::string name;
  OptimizerSpec spec;
  bool gaps = false;
};

std::ostream& operator<<(std::ostream& out, const GoldenCase& c) { return out << c.name; }

OptimizerSpec muon_by_shape() {
  OptimizerSpec spec{.kind = "muon", .beta2 = 0.95, .weight_decay = 0.125};
  spec.own.of<MuonSpec>().muon = {
      .momentum = 0.75, .nesterov = false, .iterations = 3, .scale = "shape"};
  return spec;
}

const std::vector<GoldenCase> cases = {
    {"sgd", {.kind = "sgd", .momentum = 0, .weight_decay = 0}},
    {"sgd_decay", {.kind = "sgd", .momentum = 0, .weight_decay = 0.125}},
    {"sgd_momentum", {.kind = "sgd", .momentum = 0.75, .weight_decay = 0}},
    {"sgd_nesterov",
     {.kind = "sgd", .momentum = 0.75, .nesterov = true, .weight_decay = 0.125},
     true},
    {"adam", {.kind = "adam", .beta2 = 0.999, .weight_decay = 0}},
    {"adam_decay", {.kind = "adam", .beta2 = 0.95, .weight_decay = 0.125}},
    {"adamw", {.kind = "adamw", .beta2 = 0.95, .weight_decay = 0.125}},
    {"adamw_gaps", {.kind = "adamw", .beta2 = 0.999, .weight_decay = 0.125}, true},
    {"muon", {.kind = "muon", .beta2 = 0.95, .weight_decay = 0.125}},
    {"muon_shape", muon_by_shape(), true},
    {"lion", {.kind = "lion", .weight_decay = 0.125}, true},
    {"adamw_groups",
     {.kind = "adamw",
      .beta2 = 0.999,
      .weight_decay = 0.125,
      .groups = {{.match = "*.time_kernel.*", .lr_factor = 0.25},
                 {.match = "*.bias", .weight_decay = 0.25}}}},
};

class GoldenTrajectory : public testing::TestWithParam<GoldenCase> {};

TEST_P(GoldenTrajectory, EqualsPyTorch) {
  const auto& [name, spec, gaps] = GetParam();
  Quadratic problem;
  const auto optimizer = make_optimizer(spec, problem.parameters().named());
  EXPECT_LT(worst_difference(run(problem, *optimizer, gaps), golden.at(name)), tolerance);
}

INSTANTIATE_TEST_SUITE_P(Optimizer, GoldenTrajectory, testing::ValuesIn(cases),
                         [](const auto& info) { return info.param.name; });

/// Training has other weights than evaluations.
TEST(Optimizer, ScheduleFreeEqualsThePaperInBothWeights) {
  for (const bool averaged : {false, true}) {
    Quadratic problem;
    const auto optimizer =
        make_optimizer({.kind = "schedule_free", .beta1 = 0.75, .weight_decay = 0.125},
                       problem.parameters().named());
    WeightAverage average(problem.parameters().named());
    const Trajectory rows = run(problem, *optimizer, true, 4, averaged ? &average : nullptr);
    const char* name = averaged ? "schedule_free_average" : "schedule_free";
    EXPECT_LT(worst_difference(rows, golden.at(name)), tolerance) << name;
  }
}

TEST(Optimizer, ABiasCorrectionOffByOneMissesTheGoldenNumbers) {
  Quadratic problem;
  const auto optimizer =
      make_optimizer({.beta2 = 0.95, .weight_decay = 0.125}, problem.parameters().named());
  *optimizer->state()[0].tensor += real(1);
  EXPECT_GT(worst_difference(run(problem, *optimizer, false), golden.at("adamw")), 1e-3);
}

const std::vector<NamedShape> uneven = {
    {"embedding", {300, 257}}, {"norm", {1}},       {"blocks.0.weight", {70, 33}},
    {"empty", {0, 4}},         {"scalar", Shape{}}, {"blocks.1.weight", {129, 400}},
};

const std::vector<OptimizerSpec> all_kinds = {
    {.kind = "sgd", .momentum = 0, .weight_decay = 0.1},
    {.kind = "sgd", .momentum = 0.9, .nesterov = true, .weight_decay = 0},
    {.kind = "adam", .weight_decay = 0.1},
    {.kind = "adamw", .weight_decay = 0.1},
    {.kind = "muon", .weight_decay = 0.1},
    {.kind = "lion", .weight_decay = 0.1},
    {.kind = "schedule_free", .weight_decay = 0.1},
};

std::vector<real> after_steps(const OptimizerSpec& spec) {
  TestParameters parameters(uneven);
  set_normal(parameters);
  const auto optimizer = make_optimizer(spec, parameters.named());
  for (std::size_t step = 0; step < 3; ++step) {
    set_normal_gradients(parameters, step);
    optimizer->step(0.01);
  }
  return all_values(parameters);
}

TEST(Optimizer, GivesTheSameBitsForAnyNumberOfThreads) {
  for (const OptimizerSpec& spec : all_kinds) {
    set_thread_count(1);
    const std::vector<real> expected = after_steps(spec);
    for (std::size_t threads : {2, 3, 4}) {
      set_thread_count(threads);
      EXPECT_EQ(after_steps(spec), expected) << spec.kind << ", " << threads << " threads";
    }
  }
  set_thread_count(0);
}

void copy(std::vector<NamedTensor> from, std::vector<NamedTensor> to) {
  ASSERT_EQ(from.size(), to.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    EXPECT_EQ(from[i].name, to[i].name);
    *to[i].tensor = *from[i].tensor;
  }
}

TEST(Optimizer, ContinuesToTheSameBitsFromItsState) {
  for (const OptimizerSpec& spec : all_kinds) {
    TestParameters parameters(uneven), restored(uneven);
    set_normal(parameters);
    const auto optimizer = make_optimizer(spec, parameters.named());
    const auto fresh = make_optimizer(spec, restored.named());
    for (std::size_t step = 0; step < 6; ++step) {
      if (step == 3) {
        for (std::size_t i = 0; i < restored.size(); ++i) restored[i].assign(parameters[i].value());
        copy(optimizer->state(), fresh->state());
      }
      set_normal_gradients(parameters, step);
      optimizer->step(0.01);
      if (step < 3) continue;
      set_normal_gradients(restored, step);
      fresh->step(0.01);
    }
    EXPECT_EQ(all_values(restored), all_values(parameters)) << spec.kind;
    EXPECT_EQ(*fresh->state()[0].tensor, *optimizer->state()[0].tensor) << spec.kind;
  }
}

const std::vector<NamedShape> with_density = {{"mixer.features.density.mean", {2, 3}},
                                              {"mixer.features.density.log_scale", {2, 3}},
                                              {"weight", {200, 201}}};

/// Returns values and gradients of the last parameter after three steps whose gradients are clipped
/// to a norm of 100, then to +-0.75, by hand or by the optimizer.
std::vector<std::vector<real>> after_limited_steps(const OptimizerSpec& spec, bool by_hand) {
  TestParameters parameters(with_density);
  set_normal(parameters);
  const auto optimizer = make_optimizer(spec, parameters.named());
  for (std::size_t step = 0; step < 3; ++step) {
    set_normal_gradients(parameters, step);
    const double norm = gradient_norm(parameters.named());
    GradientLimit limit = norm_limit(norm, 100);
    limit.largest = real(0.75);
    EXPECT_LT(limit.factor, 1);
    for (std::size_t i = 0; by_hand && i < parameters.size(); ++i)
      for (real& g : parameters[i].gradient())
        g = std::clamp(real(g * real(100 / norm)), real(-0.75), real(0.75));
    optimizer->step(0.01, by_hand ? GradientLimit{} : limit);
  }
  const Tensor& gradient = parameters[2].gradient();
  return {all_values(parameters), {gradient.begin(), gradient.end()}};
}

TEST(Optimizer, LimitsGradientsInItsPassAsBeforeIt) {
  std::vector<OptimizerSpec> specs = all_kinds;
  specs.push_back({.density_natural = true});
  for (const OptimizerSpec& spec : specs) {
    const auto expected = after_limited_steps(spec, true);
    for (const std::size_t threads : {1, 2, 3}) {
      set_thread_count(threads);
      EXPECT_EQ(after_limited_steps(spec, false), expected) << spec.kind << threads;
    }
  }
  set_thread_count(0);
}

TEST(Optimizer, NamesItsState) {
  TestParameters parameters({{"blocks.0.query.weight", {2, 3}}, {"head", {4}}});
  const auto adamw = make_optimizer({}, parameters.named());
  std::vector<std::string> names;
  for (const NamedTensor& named : adamw->state()) names.push_back(named.name);
  EXPECT_THAT(names, testing::ElementsAre(
                         "adamw.updates", "adamw.first_moment/blocks.0.query.weight",
                         "adamw.first_moment/head", "adamw.second_moment/blocks.0.query.weight",
                         "adamw.second_moment/head"));
  EXPECT_EQ(adamw->state()[1].tensor->shape(), (Shape{2, 3}));
  EXPECT_EQ(make_optimizer({.kind = "sgd", .momentum = 0}, parameters.named())->state().size(), 1u);
}

TEST(Optimizer, LeavesParametersWithoutGradientAlone) {
  for (const OptimizerSpec& spec : all_kinds) {
    TestParameters parameters({{"a", {2, 2}}, {"b", {2, 2}}});
    set_normal(parameters);
    const auto optimizer = make_optimizer(spec, parameters.named());
    set_normal_gradients(parameters, 0);
    optimizer->step(0.1);
    set_normal_gradients(parameters, 1);
    parameters[1].zero_gradient();
    const Tensor a = parameters[0].value(), b = parameters[1].value();
    std::vector<Tensor> before;
    for (const NamedTensor& named : optimizer->state()) before.push_back(*named.tensor);
    optimizer->step(0.1);
    EXPECT_EQ(parameters[1].value(), b) << spec.kind;
    EXPECT_NE(parameters[0].value(), a) << spec.kind;
    for (std::size_t i = 1; i < before.size(); ++i)
      EXPECT_EQ(*optimizer->state()[i].tensor == before[i], i % 2 == 0) << spec.kind << i;
    const real* updates = optimizer->state()[0].tensor->data();
    EXPECT_EQ(std::vector<real>(updates, updates + 2), (std::vector<real>{2, 1}));
  }
}

TEST(Optimizer, AccumulatedGradientsCountAsTheirSum) {
  TestParameters once({{"a", {5, 3}}}), twice({{"a", {5, 3}}});
  const auto first = make_optimizer({}, once.named()), second = make_optimizer({}, twice.named());
  for (std::size_t step = 0; step < 3; ++step) {
    const Tensor g = normal_tensor({5, 3}, 2 * step), h = normal_tensor({5, 3}, 2 * step + 1);
    add_gradient(once[0], g + h);
    add_gradient(twice[0], g);
    add_gradient(twice[0], h);
    first->step(0.1);
    second->step(0.1);
    first->zero_gradients();
    second->zero_gradients();
    EXPECT_FALSE(twice[0].has_gradient());
  }
  EXPECT_EQ(once[0].value(), twice[0].value());
  EXPECT_NE(once[0].value(), zeros({5, 3}));
}

TEST(Optimizer, ALearningRateOfZeroKeepsTheWeights) {
  for (const OptimizerSpec& spec : all_kinds) {
    TestParameters parameters({{"a", {3, 3}}});
    set_normal(parameters);
    const Tensor before = parameters[0].value();
    const auto optimizer = make_optimizer(spec, parameters.named());
    set_normal_gradients(parameters, 0);
    optimizer->step(0);
    EXPECT_EQ(parameters[0].value(), before) << spec.kind;
  }
}

TEST(Optimizer, SmallDecayIsNotRoundedAway) {
  TestParameters parameters({{"a", {1, 1}}});
  parameters[0].assign(filled({1, 1}, real(1)));
  const auto optimizer = make_optimizer({.weight_decay = 0.1}, parameters.named());
  add_gradient(parameters[0], zeros({1, 1}));
  for (int step = 0; step < 1000; ++step) optimizer->step(1e-5);
  EXPECT_NEAR(double(parameters[0].value()(0, 0)), 1 - 1e-3, 5e-5);
}

void expect_refused(const OptimizerSpec& spec, const std::string& message) {
  TestParameters parameters({{"a", {2, 2}}});
  EXPECT_THAT([&] { make_optimizer(spec, parameters.named()); },
              ThrowsMessage<std::invalid_argument>(HasSubstr(message)));
}

TEST(Optimizer, RefusesWhatMakesNoSense) {
  expect_refused({.kind = "adamm"},
                 "no optimizer is called \"adamm\"; there are: adamw, adam, natural, sgd");
  expect_refused({.kind = "sgd", .momentum = 1}, "momentum = 1");
  expect_refused({.kind = "sgd", .momentum = 0, .nesterov = true}, "nesterov");
  expect_refused({.beta1 = 1}, "betas = 1: must be at least 0 and less than 1");
  expect_refused({.beta2 = -0.5}, "betas = -0.5");
  expect_refused({.epsilon = 0}, "epsilon = 0: must be greater than 0");
  expect_refused({.epsilon = std::numeric_limits<double>::infinity()}, "epsilon = inf");
  expect_refused({.kind = "langevin"}, "temperature = 0");
  expect_refused({.weight_decay = -1}, "weight_decay = -1");
}

TEST(Optimizer, RefusesABadStep) {
  TestParameters parameters({{"a", {2, 2}}});
  const auto optimizer = make_optimizer({}, parameters.named());
  EXPECT_THROW(optimizer->step(-1), std::invalid_argument);
  EXPECT_THROW(optimizer->step(std::nan("")), std::invalid_argument);
  EXPECT_THROW(optimizer->step(1, {.largest = -1}), std::invalid_argument);
  parameters[0].assign(zeros({3, 2}));
  EXPECT_THAT([&] { optimizer->step(0.1); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("a changed its shape to (3, 2)")));
  EXPECT_EQ(*optimizer->state()[0].tensor, (Tensor{real(0)}));
}

/// Another pass has used the weights before the step.
TEST(Optimizer, ChangesTheWeightsOfAPass) {
  TestParameters parameters({{"a", {2}}, {"frozen", {2}}});
  const auto optimizer = make_optimizer({}, parameters.named());
  Tape first, second, third;
  const Var handle = first(parameters[0]), late = sum(square(second(parameters[0])));
  const Var other = sum(square(third(parameters[1])));
  first.backward(sum(handle * handle));
  optimizer->step(0.1);
  EXPECT_THAT([&] { second.backward(late); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("changed after this pass")));
  EXPECT_NO_THROW(third.backward(other));
}

TEST(Optimizer, RefusesAParameterListedTwice) {
  TestParameters parameters({{"a", {2, 2}}});
  std::vector<NamedParameter> named = parameters.named();
  named.push_back({"tied", named[0].parameter});
  EXPECT_THAT([&] { make_optimizer({}, named); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("tied is the same parameter as a")));
}

}  // namespace optimizer_test
}  // namespace bochner::inline BOCHNER_PRECISION
