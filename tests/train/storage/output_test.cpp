#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/formats/read_array.hpp>
#include <bochner/train/storage/output.hpp>
#include <fstream>
#include <thread>

#include "data/messages.hpp"
#include "data/temporary_folder.hpp"

namespace bochner {
namespace output_test {

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
  EXPECT_EQ(again("T.CSV").columns, table.columns);
  EXPECT_TRUE(is_array_file(path("T.NPY")));
}

TEST_F(Output, AppearsCompleteOrNotAtAll) {
  EXPECT_THROW(write_array(path("t.npy"), table, {.npz = {element_type("int8")}}), DataError);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_THROW(write_array(path("t.txt"), table), std::invalid_argument);
  try {
    write_array(path("none/t.csv"), table);
    ADD_FAILURE() << "the folder is not there";
  } catch (const IoError& error) {
    EXPECT_EQ(error.what(),
              path("none/t.csv") + ": cannot open: No such file or directory; check the path");
  }
  EXPECT_THROW(require_folder(folder.write("file", "x").string() + "/t.csv"), IoError);
  EXPECT_THROW(require_folder(folder.path().string()), IoError);
  EXPECT_NO_THROW(require_folder(path("t.csv")));
  EXPECT_NO_THROW(require_folder("here.csv"));
}

/// Whose numbers would say nothing.
TEST_F(Output, TextsAreWrittenAsCsv) {
  NamedArray words = table;
  words.texts[1] = {"x", "y", "z", "u", "v", "w"};
  for (const char* name : {"t.npz", "t.npy"})
    EXPECT_EQ(message_of<DataError>([&] { write_array(path(name), words); }),
              path(name) +
                  ": column b holds texts, but NPY and NPZ hold only numbers; write a .csv file");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_NO_THROW(write_array(path("t.csv"), words));
}

TEST_F(Output, LinksAreFollowedAndStay) {
  folder.write("files/old.csv", "old");
  std::filesystem::create_symlink("files/old.csv", path("link.csv"));
  std::filesystem::create_symlink("link.csv", path("links.csv"));
  std::filesystem::create_symlink("files/new.csv", path("dangling.csv"));
  for (const char* name : {"links.csv", "dangling.csv"}) {
    EXPECT_EQ(again(name).values, table.values) << name;
    EXPECT_TRUE(std::filesystem::is_symlink(path(name))) << name;
  }
  EXPECT_TRUE(std::filesystem::is_symlink(path("link.csv")));
  EXPECT_EQ(read_array(path("files/old.csv")).values, table.values);
  EXPECT_EQ(read_array(path("files/new.csv")).values, table.values);
  std::filesystem::create_symlink("circle.csv", path("circle.csv"));
  EXPECT_THROW(write_array(path("circle.csv"), table), IoError);
}

TEST_F(Output, PipesAndDevicesAreWrittenToAndStay) {
  const std::string pipe = path("pipe.csv");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { std::getline(std::ifstream(pipe), read, '\0'); });
  write_array(pipe, table);
  reader.join();
  EXPECT_EQ(read, "a,b,c\n1,2,3\n4,5,6.5\n");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  std::filesystem::create_symlink("/dev/null", path("null.csv"));
  write_array(path("null.csv"), table);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  std::filesystem::create_directory(path("folder.csv"));
  EXPECT_THROW(write_array(path("folder.csv"), table), IoError);
  if (!std::filesystem::exists("/dev/full")) return;
  std::filesystem::create_symlink("/dev/full", path("full.csv"));
  EXPECT_THROW(write_array(path("full.csv"), table), IoError);
}

}  // namespace output_test
}  // namespace bochner
