#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bochner/train/storage/storage.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>

namespace bochner {
namespace storage_test {

using testing::ElementsAre;
using testing::HasSubstr;

class PosixStorageTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "bochner-storage-XXXXXX";
    directory = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(directory); }

  std::string error_of(const std::function<void()>& action) {
    try {
      action();
    } catch (const IoError& error) {
      return error.what();
    }
    return "no error";
  }

  PosixStorage storage;
  Path directory;
};

TEST_F(PosixStorageTest, ReadsBackWhatWasCommitted) {
  commit_file(storage, directory / "file", "first");
  commit_file(storage, directory / "file", "second");
  EXPECT_EQ(read_file(storage, directory / "file"), "second");
  EXPECT_THAT(storage.list(directory), ElementsAre("file"));
  char middle[3];
  storage.open_read(directory / "file")->read_at(1, middle, 3);
  EXPECT_EQ(std::string(middle, 3), "eco");
}

TEST_F(PosixStorageTest, AppendsAndTruncates) {
  auto file = storage.open_append(directory / "lines");
  file->append("one\ntwo\n", 8);
  file->truncate(4);
  file->append("three\n", 6);
  file->sync();
  file->close();
  EXPECT_EQ(read_file(storage, directory / "lines"), "one\nthree\n");
}

TEST_F(PosixStorageTest, NeverWritesOverOrThroughWhatIsThere) {
  commit_file(storage, directory / "file", "kept");
  storage.make_directory(directory / "inner");
  std::filesystem::create_symlink(directory / "file", directory / "link");
  for (const char* name : {"file", "link"}) {
    EXPECT_THAT(error_of([&] { storage.create_exclusive(directory / name); }),
                HasSubstr("File exists"));
  }
  EXPECT_THAT(error_of([&] { storage.open_append(directory / "link"); }),
              HasSubstr("links are not allowed"));
  EXPECT_THAT(error_of([&] { storage.open_read(directory / "link"); }),
              HasSubstr("links are not allowed"));
  EXPECT_EQ(read_file(storage, directory / "file"), "kept");
}

TEST_F(PosixStorageTest, RefusesPipesAndDirectoriesInsteadOfWaiting) {
  ASSERT_EQ(mkfifo((directory / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(error_of([&] { storage.open_read(directory / "pipe"); }),
              HasSubstr("not a regular file"));
  EXPECT_THAT(error_of([&] { storage.open_read(directory); }), HasSubstr("not a regular file"));
}

TEST_F(PosixStorageTest, ErrorsSayWhatWhereWhyAndWhatToDo) {
  const std::string missing = (directory / "missing").string();
  EXPECT_EQ(error_of([&] { storage.open_read(missing); }),
            missing + ": cannot open: No such file or directory; check the path");
  EXPECT_EQ(error_of([&] { storage.open_append("/dev/full")->append("x", 1); }),
            "/dev/full: cannot write: No space left on device; free some space and try again");
  EXPECT_THAT(error_of([&] { storage.rename(missing, missing + "2"); }),
              HasSubstr("missing: cannot rename to missing2: "));
  EXPECT_EQ(error_of([] { throw_io_error("open", "config.toml", ENOMEM); }),
            "config.toml: cannot open: Cannot allocate memory; free some memory or raise its limit "
            "(ulimit -v)");
  EXPECT_THAT(error_of([&] { storage.list(missing); }), HasSubstr("cannot list"));
  EXPECT_THAT(error_of([&] { storage.sync_directory(missing); }), HasSubstr("cannot open"));
  commit_file(storage, directory / "short", "abc");
  char bytes[4];
  EXPECT_THAT(error_of([&] { storage.open_read(directory / "short")->read_at(0, bytes, 4); }),
              HasSubstr("the file ends at byte 3"));
}

/// A file-size limit cuts a write short before it fails, as a full disk does.
TEST_F(PosixStorageTest, AShortWriteGoesOnUntilTheErrorAndTheOldFileStays) {
  commit_file(storage, directory / "file", "old");
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limited = before;
  limited.rlim_cur = 1000;
  setrlimit(RLIMIT_FSIZE, &limited);
  const std::string error =
      error_of([&] { commit_file(storage, directory / "file", std::string(1500, 'n')); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(error, HasSubstr("cannot write: File too large"));
  EXPECT_EQ(read_file(storage, directory / "file"), "old");
  EXPECT_THAT(storage.list(directory), ElementsAre("file"));
}

TEST_F(PosixStorageTest, OnlyOneHoldsALockAndItEndsWithItsHolder) {
  const Path path = directory / "run.lock";
  {
    const auto held = storage.lock(path);
    EXPECT_EQ(error_of([&] { storage.lock(path); }),
              directory.string() + ": another process (pid " + std::to_string(getpid()) +
                  ") is using this run; wait until it ends, or stop it");
  }
  const pid_t child = fork();
  if (child == 0) {
    const auto held = storage.lock(path);
    std::raise(SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_NO_THROW(storage.lock(path));
}

TEST_F(PosixStorageTest, WhoHoldsALockIsSeenWithoutWriting) {
  const Path path = directory / "run.lock";
  EXPECT_EQ(storage.in_use(path), "");
  EXPECT_FALSE(storage.exists(path));
  storage.lock(path);  // and let go
  std::ofstream(path) << "17";
  EXPECT_EQ(storage.in_use(path), "");
  EXPECT_EQ(read_file(storage, path), "17");
  const auto held = storage.lock(path);
  EXPECT_EQ(storage.in_use(path), error_of([&] { storage.lock(path); }));
}

TEST_F(PosixStorageTest, ALockIsLostWithItsName) {
  const Path path = directory / "run.lock";
  const auto held = storage.lock(path);
  EXPECT_NO_THROW(held->require_held());
  std::filesystem::remove(path);
  EXPECT_EQ(error_of([&] { held->require_held(); }),
            directory.string() +
                ": run.lock was removed, so another process may be using this run; nothing more "
                "is written here; stop the other process");
  const auto second = storage.lock(path);
  EXPECT_THROW(held->require_held(), InUseError);
  EXPECT_NO_THROW(second->require_held());
}

TEST_F(PosixStorageTest, ALockIsHeldWhileItsDirectoryIsAway) {
  storage.make_directory(directory / "run");
  const auto held = storage.lock(directory / "run/run.lock");
  storage.rename(directory / "run", directory / "away");
  EXPECT_NO_THROW(held->require_held());
  storage.make_directory(directory / "run");
  EXPECT_THROW(held->require_held(), InUseError);
  const auto second = storage.lock(directory / "run/run.lock");
  EXPECT_THROW(held->require_held(), InUseError);
  EXPECT_NO_THROW(second->require_held());
}

TEST_F(PosixStorageTest, ATemporaryIsAbandonedWhenItsProcessIsGone) {
  const auto left_by = [](pid_t process) {
    return in_words("step.ckpt.", process, ".0", temporary_suffix);
  };
  const pid_t other = ::fork();
  if (other == 0)
    while (true) ::pause();
  EXPECT_FALSE(is_abandoned(left_by(other)));
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
  EXPECT_TRUE(is_abandoned(left_by(other)));
  EXPECT_TRUE(is_abandoned(left_by(::getpid())));
  EXPECT_TRUE(is_abandoned(in_words("probe", temporary_suffix)));
  EXPECT_FALSE(is_abandoned(in_words("step.ckpt.", other, ".0")));
}

TEST_F(PosixStorageTest, RemovesWhatIsGoneAlready) {
  EXPECT_NO_THROW(storage.unlink(directory / "gone"));
  storage.make_directory(directory / "folder");
  EXPECT_THROW(storage.unlink(directory / "folder"), IoError);
}

TEST_F(PosixStorageTest, MakesAllMissingDirectories) {
  make_directories(storage, directory / "a/b/c");
  EXPECT_TRUE(storage.exists(directory / "a/b/c"));
  EXPECT_NO_THROW(make_directories(storage, directory / "a/b/c"));
  commit_file(storage, directory / "file", "");
  EXPECT_THROW(make_directories(storage, directory / "file/inner"), IoError);
  make_directories(storage, directory / "a/slash/");
  EXPECT_TRUE(storage.exists(directory / "a/slash"));
}

TEST_F(PosixStorageTest, MakesADirectoryThatAnotherProcessMakesAtTheSameTime) {
  struct Overtaken : PosixStorage {
    void make_directory(const Path& path) override {
      std::filesystem::create_directory(path);
      PosixStorage::make_directory(path);
    }
  } overtaken;
  EXPECT_NO_THROW(make_directories(overtaken, directory / "a/b"));
  EXPECT_TRUE(storage.exists(directory / "a/b"));
}

TEST_F(PosixStorageTest, WritersRemoveWhatKilledOnesOfTheirFileHaveLeft) {
  const auto left_by = [&](const std::string& file, pid_t process, std::chrono::hours age) {
    const std::string name = in_words(file, ".", process, ".0", temporary_suffix);
    commit_file(storage, directory / name, "");
    std::filesystem::last_write_time(directory / name,
                                     std::filesystem::file_time_type::clock::now() - age);
    return name;
  };
  const int nobody = 2000000000;
  const std::chrono::hours old{2}, young{0};
  left_by("big.npy", nobody, old);
  const std::string fresh = left_by("big.npy", nobody + 1, young),
                    living = left_by("big.npy", getppid(), old),
                    other = left_by("big", nobody, old), longer = left_by("big.npy.x", nobody, old);
  commit_file(storage, directory / "big.npy", "");
  EXPECT_THAT(storage.list(directory),
              testing::UnorderedElementsAre("big.npy", fresh, living, other, longer));
}

}  // namespace storage_test
}  // namespace bochner
