#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/files/glob.hpp>

#include "data/temporary_folder.hpp"
#include "data/unprivileged.hpp"

namespace bochner {
namespace glob_test {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

struct Glob : testing::Test {
  TemporaryFolder folder;

  void SetUp() override {
    for (const char* name : {"a.txt", "b.txt", "b.md", "deep/c.txt", "deep/er/d.txt",
                             "deep/er/e.md", ".hidden.txt", ".git/f.txt", "other/g.txt"})
      folder.write(name);
  }

  std::vector<std::string> find(const std::vector<std::string>& patterns) {
    std::vector<std::string> names;
    for (const auto& path : expand_files(patterns, folder.path()))
      names.push_back(path.lexically_relative(folder.path()).string());
    return names;
  }

  template <class Error>
  std::string failure(const std::vector<std::string>& patterns) {
    return message_of<Error>([&] { find(patterns); });
  }
};

TEST_F(Glob, PlainPaths) {
  EXPECT_THAT(find({"b.md", "deep/c.txt"}), ElementsAre("b.md", "deep/c.txt"));
}

TEST_F(Glob, StarStaysInsideOneFolder) {
  EXPECT_THAT(find({"*.txt"}), ElementsAre("a.txt", "b.txt"));
  EXPECT_THAT(find({"*/*.txt"}), ElementsAre("deep/c.txt", "other/g.txt"));
  EXPECT_THAT(find({"d*p/er/*"}), ElementsAre("deep/er/d.txt", "deep/er/e.md"));
  EXPECT_THAT(find({"*/c.txt"}), ElementsAre("deep/c.txt"));
}

TEST_F(Glob, StarsMatchAnyPartOfAName) {
  folder.write("names/abcabd");
  for (const char* pattern : {"*", "a*", "*d", "abcabd", "*abd", "a*b*d", "**abd", "abcabd*", "*?"})
    EXPECT_THAT(find({std::string("names/") + pattern}), ElementsAre("names/abcabd")) << pattern;
  for (const char* pattern : {"*c", "b*", "a*c*c*", "abcabd?", "?bcab", "*abd?"})
    EXPECT_THROW(find({std::string("names/") + pattern}), DataError) << pattern;
}

TEST_F(Glob, QuestionMarkIsOneCharacter) {
  folder.write("ä.txt");
  EXPECT_THAT(find({"?.txt"}), ElementsAre("a.txt", "b.txt", "ä.txt"));
  EXPECT_THROW(find({"??.txt"}), DataError);
}

TEST_F(Glob, TwoStarsAreAnyDepth) {
  EXPECT_THAT(find({"**/*.txt"}),
              ElementsAre("a.txt", "b.txt", "deep/c.txt", "deep/er/d.txt", "other/g.txt"));
  EXPECT_THAT(find({"deep/**"}), ElementsAre("deep/c.txt", "deep/er/d.txt", "deep/er/e.md"));
  EXPECT_THAT(find({"**/er/**/*.md"}), ElementsAre("deep/er/e.md"));
  EXPECT_EQ(find({"**/**/*"}), find({"**"}));
}

TEST_F(Glob, HiddenNamesMustBeAskedFor) {
  EXPECT_THAT(find({".*.txt"}), ElementsAre(".hidden.txt"));
  EXPECT_THAT(find({".git/**"}), ElementsAre(".git/f.txt"));
}

TEST_F(Glob, EachFileOnceInTheOrderOfNames) {
  fs::create_symlink(folder.path() / "a.txt", folder.path() / "z.txt");
  EXPECT_THAT(find({"z.txt", "b.txt", "*.txt", "./b.txt", "deep/../a.txt"}),
              ElementsAre("a.txt", "b.txt"));
}

TEST_F(Glob, TwoStarsFollowNoLinks) {
  TemporaryFolder elsewhere;
  elsewhere.write("d.txt");
  fs::create_directory_symlink(elsewhere.path(), folder.path() / "deep/link");
  fs::create_directory_symlink(folder.path(), folder.path() / "deep/circle");
  EXPECT_THAT(find({"**/d.txt"}), ElementsAre("deep/er/d.txt"));
  EXPECT_THAT(find({"deep/link/**"}), ElementsAre("deep/link/d.txt"));
}

TEST_F(Glob, AbsolutePatternsIgnoreTheBase) {
  EXPECT_THAT(expand_files({(folder.path() / "*.md").string()}, "/nowhere"),
              ElementsAre(folder.path() / "b.md"));
}

TEST_F(Glob, EmptyBaseIsTheWorkingFolder) {
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  const auto from_empty = expand_files({"*.md"}, "");
  const auto from_dot = expand_files({"*.md"}, ".");
  fs::current_path(before);
  EXPECT_THAT(from_empty, ElementsAre(fs::path("b.md")));
  EXPECT_THAT(from_dot, ElementsAre(fs::path("b.md")));
}

TEST_F(Glob, PatternWithoutAMatchIsNamed) {
  EXPECT_THAT(failure<DataError>({"a.txt", "*.tex"}),
              AllOf(HasSubstr("\"*.tex\""), HasSubstr(folder.path().string())));
  EXPECT_THROW(find({"a.txt/*"}), DataError);
  fs::create_directories(folder.path() / "only/folders");
  EXPECT_THROW(find({"only/*"}), DataError);
  EXPECT_THROW(find({}), DataError);
}

TEST_F(Glob, MissingFileIsNamed) {
  EXPECT_THAT(failure<IoError>({"absent.txt"}), HasSubstr((folder.path() / "absent.txt").string()));
}

TEST_F(Glob, FolderSuggestsAPattern) {
  EXPECT_THAT(failure<DataError>({"deep"}), HasSubstr("\"deep/**\""));
  EXPECT_THAT(failure<DataError>({"deep/"}), HasSubstr("\"deep/**\""));
}

TEST_F(Glob, EmptyPatternIsAFolder) {
  EXPECT_THAT(failure<DataError>({""}), HasSubstr("\"**\""));
  EXPECT_THAT(message_of<DataError>([] { expand_files({""}, ""); }), HasSubstr(". is a folder"));
}

TEST_F(Glob, PipesAreNoData) {
  ASSERT_EQ(::mkfifo((folder.path() / "pipe.txt").c_str(), 0600), 0);
  EXPECT_THROW(find({"pipe.txt"}), DataError);
  EXPECT_THAT(find({"*.txt"}), ElementsAre("a.txt", "b.txt"));
}

TEST_F(Glob, LockedFolderIsAnErrorNotAGap) {
  fs::permissions(folder.path(), fs::perms(0755));
  fs::permissions(folder.path() / "other", fs::perms::none);
  {
    Unprivileged user;
    if (!user.works()) GTEST_SKIP() << "root cannot become an ordinary user here";
    for (const char* pattern : {"**/*.txt", "*/*.txt", "*/g.txt"})
      EXPECT_THAT(failure<IoError>({pattern}),
                  AllOf(HasSubstr("other"), HasSubstr("Permission denied")));
  }
  fs::permissions(folder.path() / "other", fs::perms(0755));
}

}  // namespace glob_test
}  // namespace bochner
