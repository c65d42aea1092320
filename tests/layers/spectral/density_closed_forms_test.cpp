#include <bochner/base/numeric/special_functions.hpp>
#include <bochner/layers/spectral/closed_forms.hpp>

#include "layers/spectral/density_check.hpp"

/// Compares densities with independent formulas.
namespace bochner::inline BOCHNER_PRECISION {
namespace density_closed_forms_test {

using namespace density_check;

constexpr double near = is_double ? 1e-8 : 2e-6;

double distance(const std::vector<double>& lag) {
  double square = 0;
  for (double x : lag) square += x * x;
  return std::sqrt(square);
}

std::unique_ptr<SpectralDensity> start_of(DensitySpec spec, std::size_t d) {
  spec.heads = 1, spec.m = 3, spec.dim = d, spec.log_scale = 0;
  return make_density(spec);
}

void expect_kernel(const DensitySpec& spec, std::size_t d,
                   const std::function<double(double)>& expected, double tolerance) {
  const PointFunction kernel = start_of(spec, d)->kernel(0);
  for (const std::vector<double>& lag : lags(d))
    EXPECT_NEAR(kernel(lag.data()), expected(distance(lag)), tolerance) << spec.kind << " " << d;
}

double gaussian(double r) { return std::exp(-r * r / 2); }

TEST(ClosedForms, StudentTIsMaternOfHalfItsDegrees) {
  for (std::size_t d : {1, 3, 8}) {
    expect_kernel(
        {.kind = "cauchy"}, d, [](double r) { return std::exp(-r); }, near);
    expect_kernel(
        {.kind = "student_t", .degrees = 1}, d, [](double r) { return std::exp(-r); }, near);
    const auto three_halves = [](double r) {
      return (1 + std::sqrt(3) * r) * std::exp(-std::sqrt(3) * r);
    };
    expect_kernel({.kind = "student_t", .degrees = 3}, d, three_halves, near);
    const auto five_halves = [](double r) {
      return (1 + std::sqrt(5) * r + 5 * r * r / 3) * std::exp(-std::sqrt(5) * r);
    };
    expect_kernel({.kind = "student_t", .degrees = 5}, d, five_halves, near);
    expect_kernel({.kind = "student_t", .degrees = 1e6}, d, gaussian, 1e-5);
  }
}

/// The kernel is the mean over the frequencies: initially draws of a Gaussian; spreading them by 2
/// gives the function at twice the lag.
TEST(ClosedForms, FreeStartsAsTheGaussianAndFollowsItsFrequencies) {
  constexpr std::size_t d = 3, m = 4000;
  const auto density =
      make_density({.kind = "free", .draws = "iid", .heads = 1, .m = m, .dim = d, .log_scale = 0});
  initialize(*density, 1);
  const PointFunction start = density->kernel(0);
  for (const std::vector<double>& lag : lags(d)) {
    const double k = gaussian(distance(lag)), k2 = gaussian(2 * distance(lag));
    EXPECT_NEAR(start(lag.data()), k, 5 * std::sqrt((1 + k2 - 2 * k * k) / 2 / m) + near);
  }
  for (const NamedParameter& named : parameters_of(*density))
    for (real& w : named.parameter->value()) w *= 2;
  const PointFunction spread = density->kernel(0);
  for (std::vector<double> lag : lags(d)) {
    const double k = spread(lag.data());
    for (double& x : lag) x *= 2;
    EXPECT_NEAR(k, start(lag.data()), near);
  }
}

/// Without couplings the coordinates are independent: the density is the product of the marginals.
TEST(ClosedForms, FlowOfIndependentCoordinatesIsTheProductOfItsMarginals) {
  const auto density = start_of({.kind = "flow"}, 3);
  randomize(*density, 0.4);
  const PointFunction log_density = density->log_density(0);
  for (const std::vector<double>& w : lags(3)) {
    double sum = 0;
    for (std::size_t j = 0; j < 3; ++j) sum += density->log_marginal(0, j)(&w[j]);
    EXPECT_NEAR(sum, log_density(w.data()), near);
  }
}

TEST(ClosedForms, LaplaceIsTheRationalQuadraticKernel) {
  for (std::size_t d : {1, 3, 8})
    expect_kernel(
        {.kind = "laplace"}, d, [](double r) { return 1 / (1 + r * r / 2); }, near);
}

/// E cos(r t) = 1 / (1 + b^2 t^2) on the line and E J_0(r t) = (1 + b^2 t^2)^(-1/2) in the plane
/// for r ~ Exp(b), b^2 = d / 2.
TEST(ClosedForms, ExponentialRadiusHasKnownKernels) {
  expect_kernel(
      {.kind = "exponential"}, 1, [](double t) { return 1 / (1 + t * t / 2); }, near);
  expect_kernel(
      {.kind = "exponential"}, 2, [](double t) { return 1 / std::sqrt(1 + t * t); }, near);
  expect_kernel(
      {.kind = "gamma", .shape = 1}, 2, [](double t) { return 1 / std::sqrt(1 + t * t); }, near);
}

TEST(ClosedForms, FlexibleDensitiesStartAsTheGaussian) {
  for (std::size_t d : {1, 3, 32}) {
    for (const char* kind : {"gaussian", "gaussian_full", "flow", "radial"})
      expect_kernel({.kind = kind}, d, gaussian, is_double ? 1e-8 : 1e-5);
  }
}

TEST(ClosedForms, BesselFunctionsAgreeAcrossTheirForms) {
  for (double t : {0.01, 0.5, 2.0, 9.0, 40.0}) {
    EXPECT_NEAR(sphere_characteristic(1, t), std::cos(t), 1e-12);
    EXPECT_NEAR(sphere_characteristic(3, t), std::sin(t) / t, 1e-12);
    EXPECT_NEAR(log_bessel_k(0.5, t), std::log(std::numbers::pi / (2 * t)) / 2 - t, 1e-12);
    EXPECT_NEAR(log_bessel_k(50.001, t), log_bessel_k(50, t), 0.02);
  }
  EXPECT_NEAR(log_bessel_k(2, 601), log_bessel_k(2, 599) - 2, 0.01);
}

/// Half-integer orders: K_(n + 1/2)(x) = sqrt(pi / 2x) exp(-x) times a polynomial in 1 / x.
/// Abramowitz and Stegun, 10.2.15.
double log_bessel_k_of_half(int n, double x) {
  double term = 1, sum = 1;
  for (int k = 1; k <= n; ++k) sum += term *= double(n + k) * (n - k + 1) / (k * 2 * x);
  return std::log(std::numbers::pi / (2 * x)) / 2 - x + std::log(sum);
}

TEST(BesselK, IsThatOfHalfIntegerOrders) {
  for (const int n : {0, 1, 14, 49, 50, 80})
    for (const double x : {20.0, 400.0, 599.0, 601.0, 5000.0})
      EXPECT_NEAR(log_bessel_k(n + 0.5, x), log_bessel_k_of_half(n, x), 1e-10) << n << " " << x;
}

/// By mpmath with 60 digits, with orders near the change of the formula.
TEST(BesselK, IsThatOfLargeOrders) {
  EXPECT_NEAR(log_bessel_k(51, 1), 183.130126234836915, 1e-10);
  EXPECT_NEAR(log_bessel_k(75.25, 3), 217.416341411239416, 1e-10);
  EXPECT_NEAR(log_bessel_k(200, 100), 62.6413296549682832, 1e-10);
  EXPECT_NEAR(log_bessel_k(2, 700), -703.04707215568729, 1e-10);
  const double values[][3] = {{50.5, 0.01, 0.99999949494962512}, {50.5, 10, 0.60504200257396796},
                              {50.5, 40, 0.0005397630713960963}, {60, 5, 0.89957243203935216},
                              {500, 30, 0.63718329269740321},    {5000, 100, 0.60648516959875276}};
  for (const auto& [order, x, expected] : values)
    EXPECT_NEAR(matern(order, x), expected, 2e-11) << order << " " << x;
  for (const double order : {50.1, 100.0, 5e9})
    EXPECT_NEAR(matern(order, 1e-6 * std::sqrt(2 * order)), 1 - 5e-13 * order / (order - 1), 1e-15)
        << order;
}

/// ln K = ln Gamma(order) + (order - 1) ln 2 - order ln x, where K overflows double.
TEST(BesselK, IsThatOfNextToNothing) {
  for (const double order : {1.0, 5.0, 20.0, 31.0, 49.0, 50.0}) {
    for (const double x : {1e-300, 1e-100, 1e-30, 1e-12, 1e-8}) {
      const double expected =
          std::lgamma(order) + (order - 1) * std::numbers::ln2 - order * std::log(x);
      EXPECT_NEAR(log_bessel_k(order, x) / expected, 1, 1e-12) << order << " " << x;
      EXPECT_NEAR(matern(order, x), 1, 1e-10) << order << " " << x;
    }
  }
  for (const std::size_t d : {2, 64, 96, 100, 104}) {
    const std::vector<double> centre(d);
    EXPECT_TRUE(std::isfinite(start_of({.kind = "laplace"}, d)->log_density(0)(centre.data())));
  }
}

/// 0F1(d / 2, -t^2 / 4) by mpmath with 60 digits, also beyond the digits of double.
TEST(SphereCharacteristic, IsThatOfManyDimensions) {
  const double values[][3] = {
      {302, 8, 0.89942713780363507},    {302, 30, 0.22369619150589648},
      {302, 100, 2.220367177994195e-8}, {768, 10, 0.93696469846392381},
      {768, 40, 0.35236738369767203},   {1024, 50, 0.29459312869951662},
      {1024, 90, 0.018864317979951639}, {2048, 5, 0.99391505492691863},
      {4096, 64, 0.60649364717705531},  {4096, 250, 0.00047906731932721674}};
  for (const auto& [d, t, expected] : values)
    EXPECT_NEAR(sphere_characteristic(d, t), expected, 1e-10 * expected + 1e-15) << d << " " << t;
  for (const double d : {600.0, 700.0, 1024.0, 4096.0, 1e5})
    for (double t = 0; t < 10 * d; t += d / 64)
      EXPECT_LE(std::abs(sphere_characteristic(d, t)), 1 + 1e-12) << d << " " << t;
}

TEST(Mixture, SoftChoiceTendsToTheHardOne) {
  const std::size_t m = 2000;
  const auto hard = random_density("mixture", 2, m);
  const std::vector<double> exact = draws_of(*hard, 0);
  double last = 1e9;
  for (double temperature : {1.0, 0.1, 0.01, 0.001}) {
    const auto soft = random_density("mixture", 2, m, temperature);
    const std::vector<double> w = draws_of(*soft, 0);
    double difference = 0;
    for (std::size_t i = 0; i < w.size(); ++i)
      difference += std::abs(w[i] - exact[i]) / double(w.size());
    EXPECT_LT(difference, last / 2);
    last = difference;
  }
  EXPECT_LT(last, 2e-3);
}

/// ln p(omega(z)) = ln N(z) - ln |det d omega / dz|, the determinant by central differences.
class Transport : public ::testing::TestWithParam<const char*> {};

double log_determinant(std::vector<std::vector<double>> a) {
  double sum = 0;
  for (std::size_t c = 0; c < a.size(); ++c) {
    std::size_t pivot = c;
    for (std::size_t i = c; i < a.size(); ++i)
      pivot = std::abs(a[i][c]) > std::abs(a[pivot][c]) ? i : pivot;
    std::swap(a[c], a[pivot]);
    sum += std::log(std::abs(a[c][c]));
    for (std::size_t i = c + 1; i < a.size(); ++i) {
      for (std::size_t j = a.size(); j-- > c;) a[i][j] -= a[i][c] / a[c][c] * a[c][j];
    }
  }
  return sum;
}

TEST_P(Transport, DensityIsThatOfTheNoiseOverTheVolume) {
  if (!is_double) GTEST_SKIP() << "differences need double";
  for (std::size_t d : {1, 2, 3, 5}) {
    const auto density = random_density(GetParam(), d, 1);
    const auto bend = [&](const Tensor& z) {
      Tape tape({.recording = false});
      return density->sample(tape, tape.constant(z)).value();
    };
    const PointFunction log_density = density->log_density(1);
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      const Tensor z = random_tensor({2, 1, d}, 50 + seed), w = bend(z);
      std::vector<std::vector<double>> jacobian(d, std::vector<double>(d));
      double expected = 0;
      for (std::size_t j = 0; j < d; ++j) {
        Tensor above = z, below = z;
        above(1, 0, j) += real(1e-5), below(1, 0, j) -= real(1e-5);
        const Tensor up = bend(above), down = bend(below);
        for (std::size_t i = 0; i < d; ++i)
          jacobian[i][j] = double(up(1, 0, i) - down(1, 0, i)) / 2e-5;
        expected -= (std::pow(double(z(1, 0, j)), 2) + std::log(2 * std::numbers::pi)) / 2;
      }
      expected -= log_determinant(jacobian);
      std::vector<double> point;
      for (std::size_t i = 0; i < d; ++i) point.push_back(double(w(1, 0, i)));
      EXPECT_NEAR(log_density(point.data()), expected, 1e-5) << "d " << d << ", point " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Densities, Transport,
                         ::testing::Values("gaussian", "gaussian_full", "gamma", "exponential",
                                           "radial", "flow"),
                         [](const auto& info) { return info.param; });

}  // namespace density_closed_forms_test
}  // namespace bochner::inline BOCHNER_PRECISION
