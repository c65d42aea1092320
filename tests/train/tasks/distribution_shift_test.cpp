#include <gmock/gmock.h>

#include <bochner/train/tasks/task.hpp>

namespace bochner {
namespace distribution_shift_test {

using testing::ElementsAre;

TEST(FarUnits, AreOfAnotherMeanOrDeviation) {
  const UnitsOfColumns learned{{0, 10, 5, 0, 1}, {1, 2, 1, 2, 0}};
  EXPECT_THAT(
      find_shifted({"a", "b", "c", "d", "e"}, learned, {{2.9, 16.5, 5, 0, 2}, {2, 1, 3.5, 0.5, 0}}),
      ElementsAre("b (mean 10, deviation 2; here 16.5, 1)", "c (mean 5, deviation 1; here 5, 3.5)",
                  "d (mean 0, deviation 2; here 0, 0.5)"));
}

}  // namespace distribution_shift_test
}  // namespace bochner
