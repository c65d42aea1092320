#include <gtest/gtest.h>

#include <bochner/autodiff/compute/softmax.hpp>
#include <limits>

namespace bochner {
namespace {

TEST(Softmax, HasTheProbabilitiesThatLogarithmsStandFor) {
  // ln 1, ln 2, ln 5, far from either unit
  for (const double unit : {0.0, 800.0, -800.0}) {
    std::vector<double> x{unit, unit + std::log(2.0), unit + std::log(5.0)};
    EXPECT_NEAR(log_sum_exp(std::span<const double>(x)), unit + std::log(8.0), 1e-12);
    EXPECT_NEAR(to_softmax(x), unit + std::log(8.0), 1e-12);
    EXPECT_NEAR(x[0], 0.125, 1e-13);
    EXPECT_NEAR(x[1], 0.25, 1e-13);
    EXPECT_NEAR(x[2], 0.625, 1e-13);
  }
}

TEST(Softmax, LeavesOutWhatIsImpossible) {
  const double never = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(softmax_of({never, 3, never}), (std::vector<double>{0, 1, 0}));
  const std::vector<float> x{float(never), 2, 2};
  EXPECT_NEAR(log_sum_exp(std::span<const float>(x)), 2 + std::log(2.0), 1e-15);
}

}  // namespace
}  // namespace bochner
