#include <gtest/gtest.h>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace module_test {

using op_check::error_of;

/// Two parts, which a slip calls by one name.
class Twins : public Module {
 public:
  void visit(Visitor& visitor) override {
    visitor("part", left_);
    visitor("part", right_);
  }

 private:
  Parameter left_{Shape{2}}, right_{Shape{3}};
};

TEST(Module, IsRefusedWithTwoTensorsOfOneName) {
  Twins twins;
  const std::string problem =
      "[visit] two tensors are named part; a checkpoint tells them apart by their names";
  EXPECT_EQ(error_of([&] { parameters_of(twins); }), problem);
  EXPECT_EQ(error_of([&] { initialize(twins, 1); }), problem);
}

}  // namespace module_test
}  // namespace bochner::inline BOCHNER_PRECISION
