#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/data/errors.hpp>
#include <bochner/data/read_array.hpp>
#include <bochner/train/output.hpp>

#include "data/temporary_folder.hpp"

namespace bochner {
namespace {

class Output : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder.path() / name).string(); }
  NamedArray again(const std::string& name, const ArrayFormat& format = {}) const {
    write_array(path(name), table, format);
    return read_array(path(name));
  }
  TemporaryFolder folder;
  const NamedArray table{{{1, 2, 3}, {4, 5, 6.5}}, {"a", "b", "c"}};
};

TEST_F(Output, ComesBackInEveryFormat) {
  for (const char* name : {"t.csv", "t.npy", "t.npz"}) {
    EXPECT_EQ(again(name).values, table.values) << name;
    EXPECT_EQ(again(name).columns.empty(), name == std::string("t.npy")) << name;
  }
  EXPECT_EQ(again("u.npz", {.npz = {.compressed = true}}).columns, table.columns);
}

TEST_F(Output, AppearsCompleteOrNotAtAll) {
  EXPECT_THROW(write_array(path("t.npy"), table, {.npz = {element_type("int8")}}), DataError);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_THROW(write_array(path("t.txt"), table), std::invalid_argument);
  EXPECT_THROW(write_array(path("none/t.csv"), table), IoError);
}

}  // namespace
}  // namespace bochner
