#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/data/files/glob.hpp>
#include <system_error>

#include "data/temporary_folder.hpp"

namespace bochner {
namespace folder_test {

using testing::ElementsAre;

int error_of(const std::filesystem::path& path) {
  try {
    names_in(path);
  } catch (const std::system_error& error) {
    return error.code().value();
  }
  return 0;
}

TEST(Folder, NamesWhatItHoldsInOrder) {
  TemporaryFolder folder;
  for (const char* name : {"b.txt", ".hidden", "a.txt", "deep/c.txt"}) folder.write(name);
  EXPECT_THAT(names_in(folder.path()), ElementsAre(".hidden", "a.txt", "b.txt", "deep"));
  EXPECT_EQ(names_in(""), names_in("."));
}

TEST(Folder, TellsWhyItCannotBeListed) {
  TemporaryFolder folder;
  folder.write("file");
  EXPECT_EQ(error_of(folder.path() / "missing"), ENOENT);
  EXPECT_EQ(error_of(folder.path() / "file"), ENOTDIR);
}

}  // namespace folder_test
}  // namespace bochner
