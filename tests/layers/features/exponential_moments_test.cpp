#include <gtest/gtest.h>

#include <bochner/layers/features/exponential_moments.hpp>

namespace bochner {
namespace exponential_moments_test {

FeatureSpec spec_of(const std::string& map, const std::string& density) {
  FeatureSpec spec;
  spec.kind = map, spec.density.kind = density;
  return spec;
}

TEST(ExponentialMoments, AreMissingWhereTailsAreHeavy) {
  for (const char* density : {"cauchy", "student_t"}) {
    EXPECT_NE(infinite_kernel(spec_of("positive", density)), "") << density;
    EXPECT_NE(infinite_kernel(spec_of("hybrid", density)), "") << density;
    EXPECT_EQ(infinite_kernel(spec_of("fourier", density)), "") << density;
    EXPECT_EQ(infinite_kernel(spec_of("elu", density)), "") << density;
  }
  for (const char* density : {"gaussian", "mixture", "laplace", "gamma", "flow", "radial"})
    EXPECT_EQ(infinite_kernel(spec_of("positive", density)), "") << density;
}

TEST(ExponentialMoments, DoNotDependOnTheScale) {
  FeatureSpec spec = spec_of("oprf", "cauchy");
  spec.density.log_scale = -12;
  EXPECT_GT(largest_exponential_share(spec.density), 0.9);
  spec.density.kind = "gaussian", spec.density.log_scale = 12;
  EXPECT_LT(largest_exponential_share(spec.density), 0.01);
}

TEST(ExponentialMoments, AreNotAskedOfAProjection) {
  FeatureSpec spec = spec_of("positive", "cauchy");
  spec.projection = "sorf";
  EXPECT_EQ(infinite_kernel(spec), "");
}

}  // namespace exponential_moments_test
}  // namespace bochner
