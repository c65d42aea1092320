#include <gtest/gtest.h>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace module_test {

using op_check::error_of;

/// Two parts that share a name by mistake.
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

/// Parameter with a given name.
struct Named : Module {
  explicit Named(std::vector<std::string> names) : names(std::move(names)) {}
  void visit(Visitor& visitor) override {
    for (const std::string& name : names) visitor(name, weight);
  }
  std::vector<std::string> names;
  Parameter weight{Shape{2}};
};

TEST(Module, IsRefusedWithTwoNamesOfOneParameter) {
  Named tied({"a", "b"});
  const std::string problem = "[visit] b is the same parameter as a; name it once";
  EXPECT_EQ(error_of([&] { parameters_of(tied); }), problem);
  EXPECT_EQ(error_of([&] { count_parameters(tied); }), problem);
}

/// Else a checkpoint would fail hours later.
TEST(Module, IsRefusedWithANameThatNoFileTakes) {
  for (const std::string& name :
       {std::string(), std::string("de cay"), std::string("a..b"), std::string("/a"),
        std::string("a."), std::string(".a"), std::string("a\n"), std::string(201, 'a')}) {
    Named module({name});
    EXPECT_EQ(error_of([&] { initialize(module, 1); }),
              "[visit] invalid tensor name: '" + name +
                  "'; use letters, digits and ._/-, not empty between dots, at most 200");
  }
  Named longest({std::string(200, 'a')});
  EXPECT_EQ(count_parameters(longest), 2u);
}

}  // namespace module_test
}  // namespace bochner::inline BOCHNER_PRECISION
