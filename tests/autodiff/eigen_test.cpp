#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/numeric/openblas.hpp>
#include <cmath>

namespace bochner {
namespace eigen_test {

using testing::DoubleNear;
using testing::ElementsAre;

TEST(SmallMatrices, AreMultipliedRowByColumn) {
  EXPECT_THAT(square_product({1, 2, 3, 4}, {5, 6, 7, 8}, 2), ElementsAre(19, 22, 43, 50));
  EXPECT_THAT(square_product({3}, {5}, 1), ElementsAre(15));
}

TEST(SmallMatrices, SolveSystems) {
  EXPECT_THAT(solve({2, 1, 0, 3}, {5, 6}), ElementsAre(DoubleNear(1.5, 1e-15), 2));
  EXPECT_THAT(solve({2}, {3}), ElementsAre(1.5));
}

TEST(SmallMatrices, HaveEigenvectorsInColumns) {
  const SymmetricEigen eigen = symmetric_eigen({2, 1, 1, 2}, 2);
  EXPECT_THAT(eigen.values, ElementsAre(DoubleNear(1, 1e-15), DoubleNear(3, 1e-15)));
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(std::abs(eigen.vectors[i]), std::sqrt(0.5), 1e-15);
  EXPECT_LT(eigen.vectors[0] * eigen.vectors[2], 0);
  EXPECT_GT(eigen.vectors[1] * eigen.vectors[3], 0);
  EXPECT_TRUE(symmetric_eigen({}, 0).values.empty());
}

}  // namespace eigen_test
}  // namespace bochner
