#include <gtest/gtest.h>

#include <bochner/base/numeric/lanczos.hpp>
#include <bochner/base/numeric/philox.hpp>
#include <cmath>

namespace bochner {
namespace lanczos_test {

/// Multiplies by a diagonal matrix.
auto diagonal(const std::vector<double>& entries) {
  return [entries](std::vector<double> v) {
    for (std::size_t i = 0; i < v.size(); ++i) v[i] *= entries[i];
    return v;
  };
}

std::vector<double> noise(std::size_t n) {
  std::vector<double> v;
  Draws draws({1});
  while (v.size() < n) v.push_back(draws.normal());
  return v;
}

TEST(Lanczos, FindsTheLargestEigenvalueAlsoBesideALargerNegativeOne) {
  std::vector<double> entries(200);
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = std::cos(double(i));
  entries[7] = 3, entries[90] = -5;
  EXPECT_NEAR(largest_eigenvalue(diagonal(entries), noise(200), 30), 3, 1e-9);
  EXPECT_LT(largest_eigenvalue(diagonal(entries), noise(200), 3), 3);
}

TEST(Lanczos, StopsInAnInvariantSpace) {
  EXPECT_NEAR(largest_eigenvalue(diagonal({4, 4, 4}), noise(3), 10), 4, 1e-12);
  EXPECT_EQ(largest_eigenvalue(diagonal({0, 0}), noise(2), 10), 0);
}

}  // namespace lanczos_test
}  // namespace bochner
