#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/layers/spectral/parameter_posterior.hpp>
#include <bochner/optim/optimizer.hpp>
#include <cmath>

#include "optim/parameters.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace gaussian_steps_test {

constexpr double tolerance = sizeof(real) == 8 ? 1e-10 : 2e-4;
constexpr std::size_t n = 4;
using Matrix = std::vector<double>;  // (n, n), or (n)

Matrix product(const Matrix& a, const Matrix& b) {
  const std::size_t columns = b.size() / n;
  Matrix c(n * columns);
  multiply(n, columns, n, a.data(), false, b.data(), 0, c.data());
  return c;
}

Matrix transposed_of(const Matrix& a) {
  Matrix b(n * n);
  for (std::size_t i = 0; i < n * n; ++i) b[i % n * n + i / n] = a[i];
  return b;
}

/// theta^T H theta / 2 - b^T theta, with a prior N(c, s^2) of every number.
struct LinearModel {
  Matrix curvature, b, centre = Matrix(n);
  double prior = 1.5;

  /// Returns H + I / s^2.
  Matrix precision() const {
    Matrix all = curvature;
    for (std::size_t i = 0; i < n; ++i) all[i * n + i] += 1 / (prior * prior);
    return all;
  }
};

LinearModel model() {
  LinearModel all;
  Matrix rows(3 * n * n);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = std::sin(double(i * i + 1));
  all.curvature.assign(n * n, 0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < 3 * n; ++k)
        all.curvature[i * n + j] += rows[k * n + i] * rows[k * n + j];
  all.b = {1, -2, 0.5, 3};
  return all;
}

/// Returns a posterior of two parameters, and unrelated weights.
TestParameters parameters_of(bool full) {
  const std::string density = "0.mixer.features.density.";
  return TestParameters({{density + "mean", {1, 1, 3}},
                         {density + "log_scale", {1}},
                         {density + "posterior.factor", full ? Shape{n, n} : Shape{n}},
                         {"0.mixer.query.weight", {n, n}}});
}

OptimizerSpec natural(double trust = 1e9) {
  return {.kind = "natural",
          .weight_decay = 0,
          .temperature = 1,
          .natural = {.lr_factor = 1, .damping = 0, .trust = trust}};
}

Matrix mean_of(TestParameters& q) {
  Matrix mean;
  for (std::size_t p = 0; p < 2; ++p)
    for (const real value : q[p].value()) mean.push_back(double(value));
  return mean;
}

void set_mean(TestParameters& q, const Matrix& mean) {
  for (std::size_t i = 0; i < n; ++i) q[i / 3].value().data()[i % 3] = real(mean[i]);
}

/// Returns L, lower triangle, also for a diagonal factor.
Matrix root_of(TestParameters& q) {
  const Tensor& factor = q[2].value();
  Matrix root(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      const bool full = factor.size() > n;
      const double entry = full ? double(factor.data()[i * n + j]) : double(factor.data()[i]);
      root[i * n + j] = i == j ? std::exp(entry) : full ? entry : 0;
    }
  return root;
}

void set_root(TestParameters& q, const Matrix& root) {
  Tensor& factor = q[2].value();
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      const double entry = i == j ? std::log(root[i * n + i]) : root[i * n + j];
      if (factor.size() > n) factor.data()[i * n + j] = real(entry);
      if (factor.size() == n && i == j) factor.data()[i] = real(entry);
    }
}

Matrix covariance_of(TestParameters& q) {
  const Matrix root = root_of(q);
  return product(root, transposed_of(root));
}

void start(TestParameters& q) {
  set_normal(q);
  set_mean(q, {0.3, -0.7, 1.1, 0.2});
  set_root(q, {0.9, 0, 0, 0, 0.2, 0.5, 0, 0, -0.3, 0.1, 0.7, 0, 0.05, 0.4, -0.2, 1.2});
}

/// Sets the gradients of E_q of the loss plus the divergence of q from the prior, in closed form.
void set_gradients(TestParameters& q, const LinearModel& of) {
  const Matrix m = mean_of(q), root = root_of(q), precision = of.precision();
  Matrix slope = product(precision, m), by_root = product(precision, root);
  for (std::size_t i = 0; i < n; ++i) slope[i] -= of.b[i] + of.centre[i] / (of.prior * of.prior);
  Tensor of_mean = zeros({1, 1, 3}), of_scale = zeros({1}), of_root = zeros(q[2].shape());
  for (std::size_t i = 0; i < n; ++i) (i < 3 ? of_mean : of_scale).data()[i % 3] = real(slope[i]);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      const double by_log = by_root[i * n + i] * root[i * n + i] - 1;
      const double entry = i == j ? by_log : by_root[i * n + j];
      if (of_root.size() > n) of_root.data()[i * n + j] = real(entry);
      if (of_root.size() == n && i == j) of_root.data()[i] = real(entry);
    }
  std::size_t p = 0;
  for (Tensor* gradient : {&of_mean, &of_scale, &of_root}) {
    q[p].zero_gradient();
    add_gradient(q[p++], *gradient);
  }
}

void expect_equal(const Matrix& a, const Matrix& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], tolerance * std::max(1., std::abs(b[i]))) << i;
}

Matrix identity() {
  Matrix one(n * n);
  for (std::size_t i = 0; i < n; ++i) one[i * n + i] = 1;
  return one;
}

TEST(GaussianSteps, OfSizeOneSolveTheLinearModel) {
  for (const bool full : {true, false}) {
    LinearModel of = model();
    for (std::size_t i = 0; i < n * n && !full; ++i)
      if (i % (n + 1) != 0) of.curvature[i] = 0;
    TestParameters q = parameters_of(full);
    start(q);
    const auto optimizer = make_optimizer(natural(), q.named());
    set_gradients(q, of);
    optimizer->step(1);
    expect_equal(product(of.precision(), covariance_of(q)), identity());
    expect_equal(product(of.precision(), mean_of(q)), of.b);
  }
}

/// As in a run: the loss is that of one term of many.
TEST(GaussianSteps, TakeTheLossOfAllData) {
  const LinearModel of = model();
  TestParameters q = parameters_of(true);
  start(q);
  OptimizerSpec spec = natural();
  spec.temperature = 0.125;
  const auto optimizer = make_optimizer(spec, q.named());
  set_gradients(q, of);
  for (std::size_t p = 0; p < 3; ++p) q[p].gradient() *= real(0.125);
  optimizer->step(1);
  expect_equal(product(of.precision(), mean_of(q)), of.b);
}

/// Coordinates A theta + a, A = R D with a reflection and a scaling.
struct Coordinates {
  Matrix map = Matrix(n * n), inverse = Matrix(n * n), shift = {0.5, -1, 2, 0.1};
  Coordinates() {
    const double units[] = {0.5, 3, 1, 2};
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        const double reflected = double(i == j) - 0.5;  // along (1, 1, 1, 1)
        map[i * n + j] = reflected * units[j];
        inverse[i * n + j] = reflected / units[i];
      }
  }
};

/// Closed-form steps give the same Gaussians in other coordinates; adamw does not.
TEST(GaussianSteps, AreTheSameInAllCoordinates) {
  const Coordinates to;
  LinearModel of = model(), other = of;
  of.prior = other.prior =
      1e9;  // an independent prior per number would change with the coordinates
  other.curvature = product(transposed_of(to.inverse), product(of.curvature, to.inverse));
  other.b = product(transposed_of(to.inverse), of.b);
  const Matrix shifted = product(other.curvature, to.shift);
  for (std::size_t i = 0; i < n; ++i) other.b[i] += shifted[i];
  for (const bool is_natural : {true, false}) {
    TestParameters q = parameters_of(true), there = parameters_of(true);
    start(q), start(there);
    const auto mapped = [&](TestParameters& from) {
      Matrix mean = product(to.map, mean_of(from));
      for (std::size_t i = 0; i < n; ++i) mean[i] += to.shift[i];
      return mean;
    };
    const auto mapped_covariance = [&] {
      return product(to.map, product(covariance_of(q), transposed_of(to.map)));
    };
    set_mean(there, mapped(q));
    Matrix root = mapped_covariance();
    cholesky(n, root.data());
    set_root(there, root);
    OptimizerSpec spec = natural();
    if (!is_natural) spec.kind = "adamw";
    const auto here = make_optimizer(spec, q.named()), moved = make_optimizer(spec, there.named());
    for (int step = 0; step < 4; ++step) {
      set_gradients(q, of), set_gradients(there, other);
      here->step(0.2), moved->step(0.2);
    }
    if (is_natural) {
      expect_equal(mean_of(there), mapped(q));
      expect_equal(covariance_of(there), mapped_covariance());
    } else {
      EXPECT_GT(std::abs(mean_of(there)[0] - mapped(q)[0]), 0.01);
    }
  }
}

TEST(GaussianSteps, OfADiagonalAreThoseOfTheSameFullOne) {
  LinearModel of = model();
  for (std::size_t i = 0; i < n * n; ++i)
    if (i % (n + 1) != 0) of.curvature[i] = 0;
  for (const double damping : {0., 0.7}) {
    TestParameters full = parameters_of(true), diagonal = parameters_of(false);
    for (TestParameters* q : {&full, &diagonal}) {
      start(*q);
      set_root(*q, {0.9, 0, 0, 0, 0, 0.5, 0, 0, 0, 0, 0.7, 0, 0, 0, 0, 1.2});
      OptimizerSpec spec = natural(0.3);
      spec.natural.damping = damping;
      const auto optimizer = make_optimizer(spec, q->named());
      for (int step = 0; step < 3; ++step) set_gradients(*q, of), optimizer->step(0.5);
    }
    expect_equal(mean_of(full), mean_of(diagonal));
    expect_equal(covariance_of(full), covariance_of(diagonal));
  }
}

/// Returns KL(q'
/// q) of diagonal Gaussians.
double divergence(const Matrix& m0, const Matrix& s0, const Matrix& m1, const Matrix& s1) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double before = s0[i * n + i], after = s1[i * n + i];
    sum += (after / before - 1 - std::log(after / before) +
            (m1[i] - m0[i]) * (m1[i] - m0[i]) / before) /
           2;
  }
  return sum;
}

TEST(GaussianSteps, KeepToTheTrustRegion) {
  const LinearModel of = model();
  for (const double trust : {1e-3, 0.05}) {
    TestParameters q = parameters_of(false);
    start(q);
    const Matrix mean = mean_of(q), covariance = covariance_of(q);
    const auto optimizer = make_optimizer(natural(trust), q.named());
    set_gradients(q, of);
    optimizer->step(1);
    const double moved = divergence(mean, covariance, mean_of(q), covariance_of(q));
    EXPECT_LE(moved, trust * (1 + 1e-3));
    EXPECT_GT(moved, trust / 20);
  }
}

/// The loss drives the precision negative: the step is limited, and a Gaussian remains.
TEST(GaussianSteps, StayGaussian) {
  LinearModel of = model();
  for (double& entry : of.curvature) entry *= -5;
  for (const bool full : {true, false}) {
    TestParameters q = parameters_of(full);
    start(q);
    const auto optimizer = make_optimizer(natural(), q.named());
    set_gradients(q, of);
    optimizer->step(1);
    for (const real value : all_values(q)) EXPECT_TRUE(std::isfinite(value));
  }
}

TEST(GaussianSteps, MoveDensitiesWithoutAPosteriorToo) {
  const std::string density = "0.mixer.features.density.";
  TestParameters one({{density + "mean", {2, 1, 3}}, {density + "log_scale", {2, 1, 3}}});
  TestParameters other({{density + "mean", {2, 1, 3}}, {density + "log_scale", {2, 1, 3}}});
  const double unit = 4;
  set_normal(one), set_normal(other);
  for (real& value : other[0].value()) value *= real(unit);
  for (real& value : other[1].value()) value += real(std::log(unit));
  set_normal_gradients(one, 1), set_normal_gradients(other, 1);
  for (real& slope : other[0].gradient()) slope /= real(unit);
  make_optimizer(natural(0.1), one.named())->step(0.5);
  make_optimizer(natural(0.1), other.named())->step(0.5);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NE(one[0].value().data()[i], normal_tensor({6}, 0).data()[i]);
    EXPECT_NEAR(unit * double(one[0].value().data()[i]), other[0].value().data()[i], tolerance);
    EXPECT_NEAR(double(one[1].value().data()[i]) + std::log(unit), other[1].value().data()[i],
                tolerance);
  }
}

TEST(GaussianSteps, LeaveTheRestToAdamw) {
  TestParameters q = parameters_of(true), plain = parameters_of(true);
  OptimizerSpec adamw = natural();
  adamw.kind = "adamw";
  for (TestParameters* all : {&q, &plain}) {
    start(*all);
    const auto optimizer = make_optimizer(all == &q ? natural(0.1) : adamw, all->named());
    for (std::uint64_t step = 0; step < 3; ++step) {
      set_normal_gradients(*all, step);
      optimizer->step(0.1);
    }
  }
  EXPECT_EQ(q[3].value(), plain[3].value());
  EXPECT_NE(q[0].value(), plain[0].value());
}

/// With gradients of single samples, as in training.
TEST(GaussianSteps, FindThePosteriorByDraws) {
  const LinearModel of = model();
  Parameter theta(zeros({n}));
  ParameterPosterior posterior({{"theta", &theta}}, ParameterPosterior::Form::full, of.prior);
  std::vector<NamedParameter> named = {{"theta", &theta}};
  for (const NamedParameter& part : bochner::parameters_of(posterior))
    named.push_back({"posterior." + part.name, part.parameter});
  const auto optimizer = make_optimizer(natural(1), named);
  const std::size_t steps = 6000;
  for (std::size_t step = 0; step < steps; ++step) {
    optimizer->zero_gradients();
    posterior.draw({3, Purpose::test, step});
    const Matrix drawn(theta.value().begin(), theta.value().end());
    const Matrix slope = product(of.curvature, drawn);
    Tensor gradient = zeros({n});
    for (std::size_t i = 0; i < n; ++i) gradient.data()[i] = real(slope[i] - of.b[i]);
    add_gradient(theta, gradient);
    posterior.restore();
    posterior.add_gradients(1);
    optimizer->step(1 / (10 + 0.3 * double(step)));
  }
  const Matrix precision = of.precision();
  const Matrix reached = product(precision, Matrix(theta.value().begin(), theta.value().end()));
  for (std::size_t i = 0; i < n; ++i)
    EXPECT_NEAR(reached[i], of.b[i], 0.3 * std::sqrt(precision[i * n + i]));
  Matrix covariance = precision;
  cholesky(n, covariance.data());
  invert_from_factor(n, covariance.data());
  const std::vector<double> deviations = posterior.deviations();
  for (std::size_t i = 0; i < n; ++i)
    EXPECT_NEAR(deviations[i] / std::sqrt(covariance[i * n + i]), 1, 0.15) << i;
}

TEST(GaussianSteps, SayWhatIsMissing) {
  const auto refused = [](const OptimizerSpec& spec, TestParameters& parameters,
                          const char* words) {
    EXPECT_THAT([&] { make_optimizer(spec, parameters.named()); },
                testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr(words)));
  };
  TestParameters none({{"0.mixer.query.weight", {n, n}}}), q = parameters_of(true);
  TestParameters wrong({{"density.mean", {3}}, {"density.posterior.factor", {2, 2}}});
  OptimizerSpec cold = natural(), both = natural();
  cold.temperature = 0, both.density_natural = true;
  refused(natural(), none, "kind = \"natural\" needs a Gaussian");
  refused(natural(), wrong, "density.posterior.factor (2, 2) does not fit the 3 numbers");
  refused(cold, q, "temperature = 0: must be above 0");
  refused(both, q, "density_natural = true is for other kinds than natural");
}

TEST(GaussianSteps, RefuseGroupsThatTearAGaussianApart) {
  const std::string density = "0.mixer.features.density.";
  TestParameters pair({{density + "mean", {2, 1, 3}}, {density + "log_scale", {2, 1, 3}}});
  TestParameters posterior = parameters_of(true);
  for (TestParameters* q : {&pair, &posterior}) {
    OptimizerSpec spec = natural();
    spec.groups = {{.match = "*.log_scale", .lr_factor = 0}};
    EXPECT_THAT([&] { make_optimizer(spec, q->named()); },
                testing::ThrowsMessage<std::invalid_argument>(
                    testing::HasSubstr("log_scale has lr_factor = 0 and " + density)));
    spec.groups = {{.match = "*.density.*", .lr_factor = 2},
                   {.match = "*.log_scale", .weight_decay = 0}};
    EXPECT_NO_THROW(make_optimizer(spec, q->named()));
  }
}

}  // namespace gaussian_steps_test
}  // namespace bochner::inline BOCHNER_PRECISION
