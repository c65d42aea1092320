#include <gmock/gmock.h>

#include <bochner/base/numeric/minimise.hpp>
#include <bochner/base/numeric/philox.hpp>
#include <bochner/train/sweep/search/surrogate.hpp>
#include <cmath>
#include <numbers>

namespace bochner {
namespace surrogate_test {

using Vector = std::vector<double>;

TEST(Minimise, FindsTheValleyOfRosenbrock) {
  const SmoothFunction f = [](const Vector& x, Vector& gradient) {
    const double a = 1 - x[0], b = x[1] - x[0] * x[0];
    gradient = {-2 * a - 400 * x[0] * b, 200 * b};
    return a * a + 100 * b * b;
  };
  const Minimum free = minimise_in_box(f, {-1.2, 1}, {-5, -5}, {5, 5});
  EXPECT_NEAR(free.x[0], 1, 1e-4);
  EXPECT_NEAR(free.x[1], 1, 1e-4);
  // With x0 at most 0.5, the minimum is at the border, on the parabola.
  const Minimum bound = minimise_in_box(f, {-1.2, 1}, {-5, -5}, {0.5, 5});
  EXPECT_NEAR(bound.x[0], 0.5, 1e-9);
  EXPECT_NEAR(bound.x[1], 0.25, 1e-5);
}

TEST(Minimise, StaysWhereAFunctionHasNoValue) {
  const SmoothFunction f = [](const Vector& x, Vector& gradient) {
    gradient = {1 / x[0] - 1};
    return x[0] > 2 ? INFINITY : std::log(x[0]) - x[0];
  };
  EXPECT_LE(minimise_in_box(f, {1.5}, {0.1}, {10}).x[0], 2);
}

TEST(LogImprovement, IsTheLogarithmOfItsDefinition) {
  for (const double z : {-4.9, -3.0, -1.0, 0.0, 0.5, 2.0, 6.0}) {
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    EXPECT_NEAR(log_improvement(z), std::log(density + z * std::erfc(-z / std::sqrt(2)) / 2),
                1e-10);
  }
}

TEST(LogImprovement, HasItsDigitsFarOut) {
  EXPECT_NEAR(log_improvement(-5 - 1e-9), log_improvement(-5 + 1e-9), 1e-7);
  // h(z) = phi(z) (1/z^2 - 3/z^4 + 15/z^6 - ...): the asymptotic series.
  for (const double z : {-40.0, -1e3, -1e8}) {
    const double w = 1 / (z * z);
    const double series = std::log(w) + std::log1p(-3 * w + 15 * w * w - 105 * w * w * w);
    EXPECT_NEAR(log_improvement(z), series - z * z / 2 - std::log(2 * std::numbers::pi) / 2,
                1e-11 * z * z);
  }
}

TEST(LogImprovement, HasTheSlopeOfDifferences) {
  for (const double z : {-300.0, -20.0, -5.1, -4.9, -1.0, 0.0, 3.0}) {
    double slope = 0;
    log_improvement(z, &slope);
    const double step = 1e-5 * std::max(1.0, std::fabs(z));
    const double difference = (log_improvement(z + step) - log_improvement(z - step)) / (2 * step);
    EXPECT_NEAR(slope, difference, 1e-6 * std::fabs(difference)) << z;
  }
}

Scored sample(std::size_t n, bool with_kinds) {
  Scored data{{true, true, !with_kinds}};
  Draws draws({3, Purpose::test, 7});
  for (std::size_t i = 0; i < n; ++i) {
    Vector point{draws.uniform(), draws.uniform(), draws.uniform()};
    if (with_kinds) point[2] = double(draws.below(3)) / 3;
    data.add(point, std::sin(5 * point[0]) + point[1] * point[2]);
  }
  return data;
}

TEST(SurrogateEnergy, HasTheGradientOfDifferences) {
  for (const bool with_kinds : {false, true}) {
    Scored data = sample(12, with_kinds);
    data.variances[3] = 0.2;
    const Vector at{0.3, -0.5, 1.1, 0.2, -4};
    Vector gradient(5), ignored(5);
    surrogate_energy(data, at, gradient);
    for (std::size_t i = 0; i < at.size(); ++i) {
      Vector up = at, down = at;
      up[i] += 1e-5;
      down[i] -= 1e-5;
      const double difference =
          (surrogate_energy(data, up, ignored) - surrogate_energy(data, down, ignored)) / 2e-5;
      EXPECT_NEAR(gradient[i], difference, 1e-5 * std::max(1.0, std::fabs(difference))) << i;
    }
  }
}

TEST(Surrogate, HasTheGradientsOfDifferences) {
  const Surrogate surrogate(sample(12, false), {{3, 1, 0.5}, 1.3, 1e-3});
  const Vector at{0.4, 0.55, 0.2};
  const Prediction there = surrogate.predict(at, true);
  EXPECT_NEAR(there.mean, surrogate.mean(at), 1e-12);
  for (std::size_t i = 0; i < at.size(); ++i) {
    Vector up = at, down = at;
    up[i] += 1e-5;
    down[i] -= 1e-5;
    const Prediction above = surrogate.predict(up), below = surrogate.predict(down);
    EXPECT_NEAR(there.mean_gradient[i], (above.mean - below.mean) / 2e-5, 1e-6);
    EXPECT_NEAR(there.deviation_gradient[i], (above.deviation - below.deviation) / 2e-5, 1e-5);
  }
}

// Of one point: k(x, z) y / (v + s), and v - k^2 / (v + s), s the noise and what is not known.
TEST(Surrogate, OfOnePointIsAClosedForm) {
  Scored data{{true}};
  data.add({0.25}, 2, 0.2);
  const Surrogate surrogate(data, {{4}, 1.5, 0.3});
  const double s = std::sqrt(5 * 4 * 0.25), k = 1.5 * (1 + s + s * s / 3) * std::exp(-s);
  const Prediction there = surrogate.predict({0.75});
  EXPECT_NEAR(there.mean, k * 2 / 2, 1e-12);
  EXPECT_NEAR(there.deviation, std::sqrt(1.5 - k * k / 2), 1e-12);
  EXPECT_NEAR(surrogate.log_evidence(), -(4 / 2.0 + std::log(2 * std::numbers::pi * 2)) / 2, 1e-12);
}

TEST(Surrogate, GoesThroughItsPointsAndFarFromThemKnowsNothing) {
  const Scored data = sample(15, false);
  const Surrogate surrogate(data, fit_kernel(data));
  for (std::size_t i = 0; i < data.count(); ++i)
    EXPECT_NEAR(
        surrogate.mean({data.points[3 * i], data.points[3 * i + 1], data.points[3 * i + 2]}),
        data.scores[i], 0.05);
  EXPECT_NEAR(surrogate.predict({1e4, 0, 0}).deviation, std::sqrt(surrogate.kernel().variance),
              1e-9);
}

TEST(FitKernel, SeesWhichAxisMatters) {
  Scored data{{true, true}};
  Draws draws({5, Purpose::test, 1});
  for (int i = 0; i < 25; ++i) {
    const double x = draws.uniform();
    data.add({x, draws.uniform()}, std::sin(9 * x));
  }
  const SurrogateKernel kernel = fit_kernel(data);
  EXPECT_GT(kernel.rates[0], 20 * kernel.rates[1]);
}

/// Names are apart alike, however they are listed.
TEST(Surrogate, KnowsNoOrderOfNames) {
  Scored data{{false}};
  data.add({1.0 / 6}, 2);
  const Surrogate surrogate(data, {{4}, 1.5, 0.3});
  EXPECT_EQ(surrogate.mean({0.5}), surrogate.mean({5.0 / 6}));
}

}  // namespace surrogate_test
}  // namespace bochner
