#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/files/regular_file.hpp>

#include "data/temporary_folder.hpp"
#include "data/unprivileged.hpp"

namespace bochner {
namespace regular_file_test {

using testing::AllOf;
using testing::HasSubstr;

std::string text_of(const MappedFile& file) {
  return std::string(file.bytes().begin(), file.bytes().end());
}

TEST(MappedFile, HoldsEveryByteAsItIs) {
  TemporaryFolder folder;
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += char(byte);
  all += "\r\n\n\r";
  EXPECT_EQ(text_of(MappedFile(folder.write("all", all))), all);
}

TEST(MappedFile, MayBeEmpty) {
  TemporaryFolder folder;
  EXPECT_EQ(MappedFile(folder.write("empty", "")).bytes().size(), 0u);
}

TEST(MappedFile, MovesWithItsBytes) {
  TemporaryFolder folder;
  MappedFile first(folder.write("a", "first")), second(folder.write("b", "second"));
  MappedFile moved(std::move(first));
  EXPECT_EQ(text_of(moved), "first");
  moved = std::move(second);
  EXPECT_EQ(text_of(moved), "second");
}

TEST(MappedFile, MissingFileIsNamedWithTheReason) {
  TemporaryFolder folder;
  EXPECT_THAT(message_of<IoError>([&] { MappedFile(folder.path() / "absent"); }),
              AllOf(HasSubstr("cannot open"), HasSubstr((folder.path() / "absent").string()),
                    HasSubstr("No such file")));
}

TEST(MappedFile, UnreadableFileIsNamedWithTheReason) {
  TemporaryFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  const auto file = folder.write("secret");
  std::filesystem::permissions(file, std::filesystem::perms::none);
  Unprivileged user;
  if (!user.works()) GTEST_SKIP() << "root cannot become an ordinary user here";
  EXPECT_THAT(message_of<IoError>([&] { MappedFile{file}; }),
              AllOf(HasSubstr(file.string()), HasSubstr("Permission denied")));
}

TEST(MappedFile, RefusesFoldersAndPipes) {
  TemporaryFolder folder;
  EXPECT_THAT(message_of<DataError>([&] { MappedFile{folder.path()}; }),
              HasSubstr("not a regular file"));
  const auto pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(message_of<DataError>([&] { MappedFile{pipe}; }), HasSubstr("not a regular file"));
}

}  // namespace regular_file_test
}  // namespace bochner
