#include <gtest/gtest.h>

#include <bochner/train/tasks/tables/learned_process.hpp>

namespace bochner {
namespace learned_process_test {

TEST(LearnedProcess, KeepsUnitsToTheLastBit) {
  LearnedProcess process({.inputs = 2});
  EXPECT_EQ(process.units(), std::vector<ColumnUnit>(3));
  const std::vector<ColumnUnit> units{
      {1763000123.4567891, 86399.999999999985}, {-0.1, 3e-310}, {1.0 / 3e139, 7e139}};
  process.set_units(units);
  EXPECT_EQ(process.units(), units);
  LearnedProcess copy({.inputs = 2});
  ASSERT_EQ(buffers_of(process).back().name, "units");
  *buffers_of(copy).back().tensor = *buffers_of(process).back().tensor;
  EXPECT_EQ(copy.units(), units);
}

}  // namespace learned_process_test
}  // namespace bochner
