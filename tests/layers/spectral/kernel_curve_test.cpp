#include <gtest/gtest.h>

#include <bochner/layers/spectral/density.hpp>
#include <bochner/layers/spectral/kernel_curve.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace kernel_curve_test {

constexpr std::size_t heads = 2;

std::vector<double> test_lags() {
  std::vector<double> lags{0, 1e-9, 1e-3};
  for (int i = 1; i < 60; ++i) lags.push_back((i % 2 == 0 ? 0.11 : -0.11) * i);
  return lags;
}

/// Makes a one-dimensional density with parameters that differ between heads.
std::unique_ptr<SpectralDensity> density_called(const std::string& kind) {
  DensitySpec spec{.kind = kind, .heads = heads, .m = 5, .dim = 1, .log_scale = 0.2};
  spec.components = 3;
  auto density = make_density(spec);
  initialize(*density, 3);
  std::uint64_t stream = 0;
  for (const NamedParameter& named : parameters_of(*density)) {
    const RandomFunction random{7, Purpose::test, stream++};
    for (std::size_t i = 0; i < named.parameter->value().size(); ++i)
      named.parameter->value().data()[i] += real(0.3 * random.normal(i));
  }
  return density;
}

std::vector<std::string> kinds_with_curves() {
  std::vector<std::string> kinds;
  for (const std::string& kind : densities().names())
    if (density_called(kind)->curve(0)) kinds.push_back(kind);
  return kinds;
}

std::vector<double> values_of(const KernelCurve& curve, const std::vector<double>& lags) {
  std::vector<double> k(lags.size());
  curve.values(lags.size(), lags.data(), k.data());
  return k;
}

TEST(KernelCurve, IsThereForTheDensitiesWithClosedForms) {
  EXPECT_EQ(kinds_with_curves(), (std::vector<std::string>{"gaussian", "mixture", "student_t",
                                                           "cauchy", "laplace", "free"}));
}

TEST(KernelCurve, IsTheClosedFormOfItsDensity) {
  std::vector<double> lags = test_lags();
  lags.push_back(1e4);
  for (const std::string& kind : kinds_with_curves()) {
    const auto density = density_called(kind);
    for (std::size_t head = 0; head < heads; ++head) {
      const std::vector<double> k = values_of(*density->curve(head), lags);
      const PointFunction kernel = density->kernel(head);
      for (std::size_t i = 0; i < lags.size(); ++i)
        EXPECT_NEAR(k[i], kernel(&lags[i]), sizeof(real) == sizeof(double) ? 2e-11 : 1e-9)
            << kind << " at " << lags[i];
    }
  }
}

/// Returns the parameters of a head in the curve's order.
std::vector<real*> elements_of(SpectralDensity& density, std::size_t head) {
  std::vector<real*> elements;
  for (const NamedParameter& named : parameters_of(density)) {
    const std::size_t size = named.parameter->value().size() / heads;
    for (std::size_t i = 0; i < size; ++i)
      elements.push_back(named.parameter->value().data() + head * size + i);
  }
  return elements;
}

/// Student's t of many degrees is nearly Gaussian, also in the tail.
TEST(KernelCurve, OfManyDegreesIsNearlyGaussian) {
  for (const double degrees : {1e3, 1e4, 1e5, 1e6}) {
    const auto curve = student_curve(0, std::log(degrees), 0, 0);
    for (const double t : {0.1, 0.7, 0.8, 2.0, 2.5, 4.0}) {
      const double lag = t;
      double k = 0;
      curve->values(1, &lag, &k);
      EXPECT_NEAR(k, std::exp(-t * t / 2), 1 / degrees + 1e-10) << degrees << ", " << t;
    }
  }
}

/// t c'(t), about -t^2 near 0 except for few degrees, and the derivative by ln degrees at t = 1, by
/// mpmath.
TEST(KernelCurve, OfManyDegreesHasItsSlopes) {
  const auto slopes_at = [](double degrees, double t) {
    const double one = 1;
    std::vector<double> slopes(3, 0.0);
    student_curve(0, std::log(degrees), 0, 0)->pull_back(1, &t, &one, slopes.data());
    return slopes;
  };
  for (const double degrees : {60.0, 80.0, 99.9, 100.1, 105.0, 1e4})
    for (const double t : {1e-8, 1e-6, 1e-4}) {
      const std::vector<double> slopes = slopes_at(degrees, t);
      const double limit = t * t * degrees / (degrees - 2);
      EXPECT_NEAR(slopes[2], -limit, 1e-6 * limit) << degrees << ", " << t;
    }
  const std::pair<double, double> by_degrees[] = {
      {120, 0.00379256403397484}, {1e4, 4.54904267835079e-5}, {1e6, 4.54898057960255e-7}};
  for (const auto& [degrees, expected] : by_degrees)
    EXPECT_NEAR(slopes_at(degrees, 1)[0], expected, 2e-10) << degrees;
}

TEST(KernelCurve, SlopesAreDifferences) {
  const std::vector<double> lags = test_lags();
  const double step = sizeof(real) == 8 ? 1e-5 : 1e-2;
  for (const std::string& kind : kinds_with_curves()) {
    const auto density = density_called(kind);
    for (std::size_t head = 0; head < heads; ++head) {
      const auto sum = [&] {
        double total = 0;
        const std::vector<double> k = values_of(*density->curve(head), lags);
        for (std::size_t i = 0; i < k.size(); ++i) total += std::cos(double(i)) * k[i];
        return total;
      };
      std::vector<double> weights;
      for (std::size_t i = 0; i < lags.size(); ++i) weights.push_back(std::cos(double(i)));
      const auto curve = density->curve(head);
      const std::vector<real*> elements = elements_of(*density, head);
      ASSERT_EQ(curve->parameters(), elements.size()) << kind;
      std::vector<double> slopes(elements.size(), 1);
      curve->pull_back(lags.size(), lags.data(), weights.data(), slopes.data());
      for (std::size_t p = 0; p < elements.size(); ++p) {
        const real before = *elements[p];
        *elements[p] = before + real(step);
        const double above = sum();
        const double width = double(*elements[p]) - double(before - real(step));
        *elements[p] = before - real(step);
        const double below = sum();
        *elements[p] = before;
        const double difference = (above - below) / width;
        EXPECT_NEAR(slopes[p] - 1, difference,
                    (sizeof(real) == 8 ? 2e-6 : 2e-2) * std::max(1.0, std::abs(difference)))
            << kind << ", parameter " << p;
      }
    }
  }
}

/// Student's t with three degrees: (1 + x) exp(-x), x = sqrt(3) t; with one: Cauchy.
TEST(KernelCurve, OfStudentsTIsMaterns) {
  for (const double t : {0.01, 0.3, 1.0, 4.0}) {
    const double smallest = 0.5, x = std::sqrt(3.0) * t;
    double k = 0;
    student_curve(smallest, std::log(3 - smallest), 0, 0)->values(1, &t, &k);
    EXPECT_NEAR(k, (1 + x) * std::exp(-x), 1e-9);
    student_curve(smallest, std::log(1 - smallest), 0, 0)->values(1, &t, &k);
    EXPECT_NEAR(k, std::exp(-t), 1e-9);
  }
}

}  // namespace kernel_curve_test
}  // namespace bochner::inline BOCHNER_PRECISION
