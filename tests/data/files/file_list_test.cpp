#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/files/regular_file.hpp>
#include <bochner/data/text/token_windows.hpp>

#include "data/temporary_folder.hpp"

namespace bochner {
namespace file_list_test {

using testing::HasSubstr;

/// Lowers the number of files that a process may open.
class FewOpenFiles {
 public:
  explicit FewOpenFiles(rlim_t most) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit now = before_;
    now.rlim_cur = most;
    ::setrlimit(RLIMIT_NOFILE, &now);
  }
  ~FewOpenFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_;
};

struct Files : testing::Test {
  FewOpenFiles few{64};
  TemporaryFolder folder;
  std::vector<std::filesystem::path> paths;

  void SetUp() override {
    for (int i = 0; i < 300; ++i)
      paths.push_back(folder.write(std::to_string(i), "file " + std::to_string(i)));
  }
  static std::string contents(const FileList& files, std::size_t file) {
    std::vector<std::uint8_t> bytes(files.size(file));
    files.read_at(file, 0, bytes);
    return {bytes.begin(), bytes.end()};
  }
};

TEST_F(Files, AreMoreThanMayBeOpen) {
  const FileList files(paths);
  ASSERT_EQ(files.count(), 300u);
  for (std::size_t i = 0; i < 300; ++i) ASSERT_EQ(contents(files, i), "file " + std::to_string(i));
  for (std::size_t i = 300; i-- > 0;) ASSERT_EQ(files.marks(i), RegularFile(paths[i]).marks());
  const ByteCorpus corpus(paths);
  std::vector<std::uint8_t> all(corpus.size());
  corpus.read(0, all);
  EXPECT_THAT(std::string(all.begin(), all.end()), HasSubstr("file 298file 299"));
}

TEST_F(Files, MustStayAsTheyAre) {
  const FileList files(paths);
  std::filesystem::rename(paths[0], folder.path() / "elsewhere");
  EXPECT_EQ(contents(files, 0), "file 0");  // it is open
  folder.write("new", "FILE 299");
  std::filesystem::rename(folder.path() / "new", paths[299]);
  EXPECT_THAT(message_of<DataError>([&] { contents(files, 299); }),
              HasSubstr("299: was changed or replaced while it was in use; restore it"));
  folder.write("298", "FILE 298, longer");
  EXPECT_THROW(contents(files, 298), DataError);
  std::filesystem::remove(paths[297]);
  EXPECT_THROW(contents(files, 297), IoError);
}

}  // namespace file_list_test
}  // namespace bochner
