#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/data/text/token_windows.hpp>
#include <bochner/train/storage/storage.hpp>
#include <fstream>

#include "faults/crashing_storage.hpp"
#include "faults/rewritten_checkpoint.hpp"
#include "faults/sample_run.hpp"
#include "train/training_run.hpp"

namespace bochner {
namespace wary_resume_test {

using faults::CrashingStorage;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// What a resume must not believe, and what it must bear.
struct WaryRun : testing::Test {
  TemporaryFolder folder;
  CrashingStorage storage;
  std::vector<std::string> notes;
  Config config(const std::vector<std::string>& sets = {}) {
    return tiny_config(folder.write("text", tiny_text()), sets);
  }
};

TEST_F(WaryRun, RefusesAConfigThatWasEditedByHand) {
  start_leg(storage, config(), 1, Ending::signal, 5);
  const Config edited = config({"optim.lr=0.5", "train.batch=7", "train.steps=60"});
  commit_file(storage, tiny_run / "config.toml", print_config(edited));
  EXPECT_THAT(
      message_of<ConfigError>([&] {
        Session::resume({storage, tiny_run}, {}, false, notes);
      }),
      AllOf(StartsWith("run/config.toml: has optim.lr = 0.5, which was "),
            HasSubstr(", train.batch = 7, which was 2; "),
            HasSubstr("bochner fork run run/config.toml --run DIR"), Not(HasSubstr("steps"))));
  commit_file(storage, tiny_run / "config.toml", print_config(config()));
  resume_leg(storage, 1);
}

/// A text beyond what is read at once, of zeros, which take no room.
struct LargeText : WaryRun {
  std::filesystem::path text = folder.write("text", "x");
  void start() {
    std::filesystem::resize_file(text, 66 << 20);
    start_leg(storage, tiny_config(text, {"train.validate.every=0"}), 1, Ending::signal, 5);
  }
  void change_state(const std::function<void(TrainerState&)>& change) {
    faults::rewrite_checkpoint(storage, tiny_run, 5,
                               [&](CheckpointContent& content) { change(content.state); });
  }
};

TEST_F(LargeText, IsGivenUpAtASignalBeforeThereIsARun) {
  std::filesystem::resize_file(text, 2000ull << 20);
  std::vector<std::string> told;
  const DataReading reading = {[&](const std::string& line) { told.push_back(line); },
                               [] { return true; }};
  const Config recipe = tiny_config(text);
  EXPECT_THAT(message_of<StoppedError>([&] {
                Session::start({storage, tiny_run, "test", reading}, recipe);
              }),
              StartsWith("stopped while the text was read, "));
  EXPECT_THAT(told, ElementsAre(StartsWith("reading  2.10 GB of text")));
  EXPECT_FALSE(storage.exists(tiny_run));
}

TEST_F(LargeText, IsComparedToTheLastByte) {
  start();
  {
    std::fstream file(text, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp((1 << 20) + 10000);
    file.put('x');
  }
  EXPECT_THAT(message_of<DataError>([&] {
                Session::resume({storage, tiny_run}, {}, true, notes);
              }),
              StartsWith("run: the files of data.files have changed since the run began"));
}

/// Of a text that is read while training goes on; a file that was only touched is the same.
TEST_F(WaryRun, SavesNothingOfATextThatIsEditedInItsPlace) {
  const auto recipe = config({"train.checkpoint.every=5", "train.steps=20"});
  Session session = Session::start({storage, tiny_run, "test"}, recipe);
  run_leg(session, 1, Ending::signal, 5);
  std::filesystem::last_write_time(folder.path() / "text",
                                   std::filesystem::file_time_type::clock::now());
  run_leg(session, 1, Ending::signal, 10);
  {
    std::fstream file(folder.path() / "text", std::ios::binary | std::ios::in | std::ios::out);
    file << "other words";
  }
  EXPECT_THAT(message_of<DataError>([&] { run_leg(session, 1); }),
              StartsWith("run: the files of data.files have changed since the run began"));
  EXPECT_EQ(session.run().list_checkpoints().back(), 10u);
}

TEST_F(LargeText, IsComparedInTheBackgroundWhereTheSystemSaysThatItIsTheSame) {
  start();
  {
    const Session session = Session::resume({storage, tiny_run}, {}, true, notes);
    EXPECT_TRUE(session.await_same_data());
    EXPECT_FALSE(session.compares_data());
  }
  change_state([](TrainerState& state) { state.data_fingerprint ^= 1; });
  const Session session = Session::resume({storage, tiny_run}, {}, true, notes);
  EXPECT_THAT(message_of<DataError>([&] { session.await_same_data(); }),
              StartsWith("run: the files of data.files"));
}

TEST_F(LargeText, IsComparedBeforeARunIsDone) {
  start();
  change_state([](TrainerState& state) { state.data_fingerprint ^= 1; });
  Session session = Session::resume({storage, tiny_run}, {"train.steps=6"}, true, notes);
  EXPECT_THAT(message_of<DataError>([&] { run_leg(session, 1); }),
              StartsWith("run: the files of data.files"))
      << "one step is made long before all is read";
  EXPECT_EQ(session.run().list_checkpoints(), std::vector<std::uint64_t>{5});
}

TEST_F(LargeText, WhoseReadingFailsHasNotChanged) {
  start();
  std::filesystem::resize_file(text, 2000ull << 20);
  change_state([&](TrainerState& state) { state.data_marks = ByteCorpus({text}).marks(); });
  const Session session = Session::resume({storage, tiny_run}, {}, true, notes);
  std::filesystem::resize_file(text, 1 << 20);
  EXPECT_THAT(message_of<DataError>([&] { session.await_same_data(); }),
              HasSubstr(": was truncated: it ends before byte "));
}

TEST_F(WaryRun, RefusesMetricsThatWereChangedAndNamesTheLine) {
  start_leg(storage, config({"train.log.every=1"}), 1, Ending::signal, 5);
  const Path metrics = tiny_run / "metrics.jsonl";
  std::string& text = storage.bytes_of(metrics);
  const std::string before = text;
  text[text.find('\n') + 20] ^= 1;
  EXPECT_THAT(message_of<DataError>([&] {
                Session::resume({storage, tiny_run}, {}, true, notes);
              }),
              StartsWith("run/metrics.jsonl:2: differs from the line that was written; "));
  const std::size_t second = before.find('\n') + 1;
  text = before.substr(0, second) + before.substr(before.find('\n', second) + 1);
  EXPECT_THAT(message_of<DataError>([&] {
                Session::resume({storage, tiny_run}, {}, true, notes);
              }),
              StartsWith("run/metrics.jsonl:2: differs from the line that was written; "));
  text = before.substr(0, before.size() - 3);
  EXPECT_THAT(message_of<DataError>([&] {
                Session::resume({storage, tiny_run}, {}, true, notes);
              }),
              StartsWith("run/metrics.jsonl: has "));
  storage.bytes_of(metrics) = before + "{\"step\":6}\n\1\2\3\n{\"ste";
  { Session::resume({storage, tiny_run}, {}, true, notes); }
  EXPECT_THAT(
      notes, ElementsAre("run/metrics.jsonl:7: was damaged; it was cut and will be written again"));
  EXPECT_EQ(read_file(storage, metrics), before);
}

/// A disk that takes everything but lines of metrics.
struct NoRoomForMetrics : CrashingStorage {
  bool full = false;
  std::size_t refused = 0;  // bytes
  struct File : StoredFile {
    std::unique_ptr<StoredFile> file;
    NoRoomForMetrics& disk;
    File(std::unique_ptr<StoredFile> file_, NoRoomForMetrics& disk_)
        : file(std::move(file_)), disk(disk_) {}
    void append(const void* data, std::size_t bytes) override {
      if (disk.full) disk.refused += bytes;
      if (disk.full) throw_io_error("write", "run/metrics.jsonl", ENOSPC);
      file->append(data, bytes);
    }
    void read_at(std::uint64_t offset, void* data, std::size_t bytes) override {
      file->read_at(offset, data, bytes);
    }
    std::uint64_t size() override { return file->size(); }
    void truncate(std::uint64_t size) override { file->truncate(size); }
    void sync() override { file->sync(); }
    bool is_replaced() override { return file->is_replaced(); }
    void close() override { file->close(); }
  };
  std::unique_ptr<StoredFile> open_append(const Path& path) override {
    auto file = CrashingStorage::open_append(path);
    if (path.filename() != "metrics.jsonl") return file;
    return std::make_unique<File>(std::move(file), *this);
  }
};

TEST_F(WaryRun, KeepsLinesOfMetricsThatTheDiskDoesNotTake) {
  const auto recipe = config({"train.log.every=3", "train.validate.every=7", "train.steps=20",
                              "train.checkpoint.every=5"});
  CrashingStorage whole;
  start_leg(whole, recipe, 1);
  NoRoomForMetrics disk;
  {
    Session session = Session::start({disk, tiny_run, "test"}, recipe);
    disk.full = true;
    testing::internal::CaptureStderr();
    run_leg(session, 1, Ending::kill, 13);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "run/metrics.jsonl: cannot write: No space left on device; free some space and try "
              "again; lines of metrics wait in memory and in the next checkpoint, training "
              "continues\n");
  }
  EXPECT_EQ(read_file(disk, tiny_run / "metrics.jsonl"), "");
  {
    Session session = Session::resume({disk, tiny_run}, {}, true, notes);
    EXPECT_THAT(message_of<IoError>([&] { run_leg(session, 1); }),
                HasSubstr("; the last lines of metrics are in the last checkpoint"));
  }
  disk.full = false;
  resume_leg(disk, 1);
  EXPECT_EQ(difference(remains_of(disk), remains_of(whole)), "");
}

TEST_F(WaryRun, LinesThatWaitAreNotWrittenAgainAndAgain) {
  NoRoomForMetrics disk;
  make_directories(disk, "run");
  MetricsFile metrics(disk, "run/metrics.jsonl");
  disk.full = true;
  const std::string line = R"({"step":1,"loss":2.5})";
  for (int i = 0; i < 30000; ++i) metrics.append(line);
  EXPECT_LT(disk.refused, 4 * 30000 * line.size());
  EXPECT_NE(metrics.problem(), "");
  disk.full = false;
  metrics.flush();
  EXPECT_EQ(metrics.problem() + metrics.waiting(), "");
  EXPECT_EQ(metrics.bytes(), 30000 * (line.size() + 1));
}

TEST_F(WaryRun, IsSavedWhereAnOldCheckpointCannotBeRemoved) {
  struct Stubborn : CrashingStorage {
    void unlink(const Path& path) override {
      if (path.extension() == ".ckpt") throw_io_error("remove", path, EPERM);
      CrashingStorage::unlink(path);
    }
  } stubborn;
  testing::internal::CaptureStderr();
  start_leg(stubborn, config({"train.steps=20", "train.checkpoint.every=5"}), 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "run/checkpoints/step-000000000005.ckpt: cannot remove: Operation not permitted; check "
            "the permissions or choose another directory; the old checkpoint stays, training "
            "continues\n");
  EXPECT_EQ(RunDirectory::read(stubborn, tiny_run).list_checkpoints().size(), 4u);
}

}  // namespace wary_resume_test
}  // namespace bochner
