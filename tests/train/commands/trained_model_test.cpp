#include <gtest/gtest.h>

#include <bochner/train/commands/trained_model.hpp>

#include "autodiff/op_check.hpp"
#include "data/temporary_folder.hpp"

namespace bochner {
namespace trained_model_test {

TEST(WriteTensors, WritesWhatReadTensorsReads) {
  TemporaryFolder folder;
  Tensor a = filled({2}, 3), b = zeros({2});
  const std::string file = folder.path() / "state";
  write_tensors(file, {{"a.b/c", &a}});
  read_tensors(file, {{"a.b/c", &b}});
  EXPECT_EQ(a, b);
}

TEST(WriteTensors, RefusesWhatIsNoName) {
  TemporaryFolder folder;
  Tensor a = filled({2}, 3);
  const std::string file = folder.path() / "state";
  for (const char* name : {"", "a b/../c", "/a"})
    EXPECT_EQ(op_check::error_of([&] {
                write_tensors(file, {{name, &a}});
              }),
              std::string("[write_tensors] invalid tensor name '") + name +
                  "'; use letters, digits and ._/-, at most 256");
  EXPECT_FALSE(std::filesystem::exists(file));
}

}  // namespace trained_model_test
}  // namespace bochner
