#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/train/commands/cli.hpp>
#include <bochner/train/run/log/run_view.hpp>

#include "data/messages.hpp"
#include "faults/crashing_storage.hpp"
#include "faults/sample_run.hpp"
#include "train/training_run.hpp"

namespace bochner {
namespace format_version_test {

using faults::CrashingStorage;
using faults::run_path;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::string refusal =
    "written by a pre-release build; train anew, or export its weights with the build that wrote "
    "it";

std::string error_with_meta(const std::string& meta) {
  std::string errors[2];
  for (const auto& action : {RunDirectory::open, RunDirectory::read}) {
    CrashingStorage storage;
    faults::create_sample_run(storage);
    commit_file(storage, run_path / "meta.json", meta);
    errors[action == RunDirectory::read] =
        message_of<DataError>([&] { action(storage, run_path); });
  }
  EXPECT_EQ(errors[0], errors[1]);
  return errors[0];
}

TEST(FormatVersion, RefusesOtherRunDirectories) {
  for (const char* meta : {"{}", "{\"version\": \"0.1.0\"}", "{\"format\": 0}"})
    EXPECT_EQ(error_with_meta(meta), "runs/sample: " + refusal);
  EXPECT_EQ(error_with_meta("{\"format\": 2}"),
            "runs/sample: format version 2, this program reads 1; use a newer bochner");
}

/// A resume needs the checkpoint alone, which has a version of its own.
TEST(FormatVersion, OpensRunsWithADamagedMetadata) {
  for (const char* meta : {"damaged", "", "{\"format\": 1}"})
    for (const auto& action : {RunDirectory::open, RunDirectory::read}) {
      CrashingStorage storage;
      faults::create_sample_run(storage);
      commit_file(storage, run_path / "meta.json", std::string(meta));
      EXPECT_EQ(action(storage, run_path).path(), run_path) << meta;
    }
}

/// What is said of a checkpoint after `edit`, which its digests do not see.
std::string error_with_bytes(std::uint32_t state, const std::function<void(std::string&)>& edit) {
  CrashingStorage storage;
  faults::Sample sample(10);
  sample.content.state.version = state;
  write_checkpoint(*storage.create_exclusive("test.ckpt"), sample.content);
  edit(storage.bytes_of("test.ckpt"));
  return message_of<DataError>([&] { CheckpointReader(storage, "test.ckpt"); });
}

TEST(FormatVersion, RefusesOtherCheckpoints) {
  EXPECT_EQ(error_with_bytes(1, [](std::string& bytes) { bytes[7] = '\n'; }),
            "test.ckpt: " + refusal + " (byte 0)");
  EXPECT_EQ(error_with_bytes(1, [](std::string& bytes) { bytes[8] = 0; }),
            "test.ckpt: format version 0: " + refusal + " (byte 8)");
  for (const std::uint32_t version : {0, 2, 3})
    EXPECT_THAT(error_with_bytes(version, [](std::string&) {}),
                AllOf(StartsWith(in_words("test.ckpt: trainer state of version ", version, ": ")),
                      HasSubstr(refusal)));
}

class PreReleaseRun : public testing::Test {
 protected:
  PreReleaseRun() {
    const Config config = tiny_config(folder_.write("text", tiny_text()), {"train.steps=2"});
    Session session = Session::start({storage_, run_, "test"}, config);
    run_leg(session, 1);
  }
  void forget_format() {
    std::string meta = read_file(storage_, run_ / "meta.json");
    const std::string line = "  \"format\": 1,\n";
    ASSERT_THAT(meta, HasSubstr(line));
    commit_file(storage_, run_ / "meta.json", meta.erase(meta.find(line), line.size()));
  }
  void expect_refused(std::vector<std::string> words, const std::string& path) {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = cli(int(words.size()), pointers.data());
    testing::internal::GetCapturedStdout();
    const std::string told = testing::internal::GetCapturedStderr();
    EXPECT_EQ(code, 65) << words[1];
    EXPECT_THAT(told, AllOf(HasSubstr(path + ": "), HasSubstr(refusal)));
    EXPECT_EQ(std::ranges::count(told, '\n'), 1) << told;
  }

  TemporaryFolder folder_;
  PosixStorage storage_;
  std::filesystem::path run_ = folder_.path() / "run";
};

TEST_F(PreReleaseRun, IsRefusedByEveryCommand) {
  forget_format();
  const std::string run = run_.string(), out = (folder_.path() / "out").string();
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"bochner", "resume", run},
        {"bochner", "eval", run},
        {"bochner", "metrics", run},
        {"bochner", "plot", run},
        {"bochner", "compare", run, run},
        {"bochner", "export", run, "-o", out + ".safetensors"},
        {"bochner", "fork", run, run + "/config.toml", "--run", out}})
    expect_refused(words, run);
}

TEST_F(PreReleaseRun, HasCheckpointsThatAreRefused) {
  const Path file = RunDirectory::read(storage_, run_).checkpoint_path(2);
  std::string bytes = read_file(storage_, file);
  bytes[7] = '\n';
  commit_file(storage_, file, bytes);
  expect_refused({"bochner", "resume", run_.string()}, file.string());
  expect_refused({"bochner", "inspect", file.string()}, file.string());
}

}  // namespace format_version_test
}  // namespace bochner
