#include <gtest/gtest.h>

#include <bochner/train/run/log/file_tail.hpp>

#include "data/temporary_folder.hpp"

namespace bochner {
namespace followed_file_test {

struct FollowedFileTest : testing::Test {
  TemporaryFolder folder;
  PosixStorage storage;
  Path path = folder.path() / "lines";
  FileTail file{storage, path};

  void write(const std::string& text) { commit_file(storage, path, text); }
  void append(const std::string& text) {
    storage.open_append(path)->append(text.data(), text.size());
  }
  void expect(const std::string& text, bool anew = false) {
    const NewLines news = file.read();
    EXPECT_EQ(news.text, text);
    EXPECT_EQ(news.anew, anew);
  }
};

TEST_F(FollowedFileTest, GivesWholeLinesOnceAndWaitsForTheFile) {
  expect("");
  append("a\nb\nhal");
  expect("a\nb\n");
  expect("");
  append("f\nc");
  expect("half\n");
}

TEST_F(FollowedFileTest, BeginsAnewWhereLinesAreGone) {
  append("a\nb\nc\n");
  expect("a\nb\nc\n");
  write("a\nb\n");
  expect("a\nb\n", true);
  append("c\nd\n");
  expect("c\nd\n");
  write("x\nb\nc\ne\nf\n");
  expect("x\nb\nc\ne\nf\n", true);
  storage.unlink(path);
  expect("", true);
  expect("");
  append("a\n");
  expect("a\n");
}

TEST_F(FollowedFileTest, IsNotConfusedByTheSameLinesWrittenAgain) {
  append("a\nb\nc\n");
  expect("a\nb\nc\n");
  storage.open_append(path)->truncate(2);
  append("b\nc\nd\n");
  expect("d\n");
}

TEST_F(FollowedFileTest, ComparesLinesLongerThanItKeeps) {
  const std::string line = std::string(10000, 'l') + "\n";
  append(line);
  expect(line);
  append("b\n");
  expect("b\n");
  write(std::string(10000, 'l') + "x\nb\n");
  expect(std::string(10000, 'l') + "x\nb\n", true);
}

TEST_F(FollowedFileTest, NamesWhatCannotBeRead) {
  storage.make_directory(path);
  EXPECT_THROW(file.read(), IoError);
}

}  // namespace followed_file_test
}  // namespace bochner
