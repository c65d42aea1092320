#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/train/commands/shared_work.hpp>

#include "data/messages.hpp"
#include "train/thread_processes.hpp"

namespace bochner {
namespace shared_work_test {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;
using Words = std::vector<std::string>;

TEST(AgreedWords, LeaveOutTheProgramAndWhatIsOfItsMachine) {
  std::vector<std::string> typed = {"bin/bochner", "train", "a b",   "--threads",   "4",
                                    "--jobs",      "2",     "--run", "--threads=2", "c"};
  std::vector<char*> words;
  for (std::string& word : typed) words.push_back(word.data());
  EXPECT_THAT(agreed_words(words), ElementsAre("train", "'a b'", "--run", "c"));
}

/// Expects an error in the first process, and in the others a silent exit with its code.
template <class Error, class Action>
void expect_reported_by_first(bool leads, ExitCode code, const Action& action,
                              const testing::Matcher<std::string>& said) {
  if (leads)
    EXPECT_THAT(message_of<Error>(action), said);
  else
    EXPECT_THAT(action,
                testing::Throws<ReportedByFirst>(testing::Field(&ReportedByFirst::code, code)));
}

/// Expects an error of three processes, the last of which has these words and numerics.
template <class Error>
void expect_refused(const Words& words, const std::string& numerics, ExitCode code,
                    const testing::Matcher<std::string>& said) {
  run_processes(3, [&](Processes& processes) {
    const bool last = processes.rank() == 2;
    const auto meeting = [&] {
      require_one_command(processes, last ? words : Words{"train", "a.toml"},
                          last ? numerics : "build 1");
    };
    expect_reported_by_first<Error>(processes.leads(), code, meeting, said);
  });
}

TEST(RequireOneCommand, SaysWhichWordsDiffer) {
  using Error = std::invalid_argument;
  expect_refused<Error>(
      {"eval", "a.toml"}, "build 1", exit_usage,
      testing::AllOf(StartsWith("process 2 on "), HasSubstr(" process 0: eval instead of train;")));
  expect_refused<Error>({"train", "a.toml", "--until", "5"}, "build 1", exit_usage,
                        HasSubstr(": --until instead of nothing more;"));
  expect_refused<Error>({"train"}, "build 1", exit_usage,
                        HasSubstr(": nothing more instead of a.toml;"));
}

TEST(RequireOneCommand, SaysWhoComputesOtherBits) {
  expect_refused<DataError>({"train", "a.toml"}, "build 2", exit_data,
                            HasSubstr("other bits than process 0: build 2 there, build 1 here;"));
}

TEST(RequireOneCommand, IsSilentOfOne) {
  run_processes(3, [](Processes& processes) {
    EXPECT_NO_THROW(require_one_command(processes, {"eval", "run"}, "build 1"));
    EXPECT_NO_THROW(require_one_text(processes, "17", "data"));
  });
}

TEST(RequireOneText, SaysWhoReadsOthers) {
  run_processes(2, [](Processes& processes) {
    expect_reported_by_first<DataError>(
        processes.leads(), exit_data,
        [&] { require_one_text(processes, std::to_string(processes.rank()), "data"); },
        EndsWith("reads other data than process 0; use the same files on all machines"));
  });
}

}  // namespace shared_work_test
}  // namespace bochner
