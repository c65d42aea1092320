#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <bochner/data/files/regular_file.hpp>
#include <bochner/train/run/log/progress.hpp>
#include <bochner/train/run/signals.hpp>
#include <chrono>
#include <csignal>
#include <thread>

#include "data/temporary_folder.hpp"

namespace bochner {
namespace signals_test {

using testing::ExitedWithCode;
using testing::HasSubstr;

TEST(SignalGuard, TakesTheEndOfTheTimeAsAStopHoweverOftenItComes) {
  SignalGuard signals;
  EXPECT_FALSE(signals.stop_requested());
  for (int second = 0; second < 3; ++second) std::raise(SIGXCPU);
  EXPECT_TRUE(signals.stop_requested());
  EXPECT_THAT(signals.stop_name(), HasSubstr("SIGXCPU"));
  std::raise(SIGXFSZ);
}

/// A process and its group are told at once by timeout, containers and systemd.
TEST(SignalGuard, TakesTwoThatComeTogetherForOneRequest) {
  SignalGuard signals;
  std::raise(SIGTERM);
  std::raise(SIGTERM);
  std::raise(SIGINT);
  EXPECT_EQ(signals.stop_name(), "SIGTERM");
}

/// In another process, begun anew: the thread that receives signals stays, and a fork has none.
struct SignalsDeathTest : testing::Test {
  SignalsDeathTest() { testing::GTEST_FLAG(death_test_style) = "threadsafe"; }
};

TEST_F(SignalsDeathTest, AFileThatIsShortenedWhileItIsReadIsAnErrorOfOneLine) {
  TemporaryFolder folder;
  const auto film = folder.write("film", std::string(100000, 'x'));
  const auto read_shortened = [&] {
    receive_signals_apart();
    const MappedFile file(film);
    std::filesystem::resize_file(film, 10);
    volatile std::uint8_t byte = file.bytes()[50000];
    std::_Exit(byte);
  };
  EXPECT_EXIT(read_shortened(), ExitedWithCode(65),
              "film: can no longer be read: it was truncated, or the disk fails; restore it "
              "and try again\n");
}

TEST_F(SignalsDeathTest, OneThatEndsTheProcessSaysSo) {
  const auto be_ended = [] {
    receive_signals_apart();
    kill(getpid(), SIGUSR2);
    while (true) pause();
  };
  EXPECT_EXIT(be_ended(), ExitedWithCode(128 + SIGUSR2), "^ended by SIGUSR2\n$");
}

TEST_F(SignalsDeathTest, BehindAGuardToo) {
  const auto be_ended = [] {
    speak_of_signals();
    { SignalGuard signals; }
    std::raise(SIGUSR1);
  };
  EXPECT_EXIT(be_ended(), ExitedWithCode(128 + SIGUSR1), "^ended by SIGUSR1\n$");
}

/// Asks for a stop, and once more after more than a second.
template <class Again>
void ask_twice(const Again& again) {
  SignalGuard signals;
  std::raise(SIGTERM);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  again();
  std::_Exit(signals.stop_requested() ? 0 : 1);
}

TEST_F(SignalsDeathTest, AnotherRequestEndsTheProcess) {
  EXPECT_EXIT(ask_twice([] { std::raise(SIGINT); }), ExitedWithCode(128 + SIGINT), "");
}

/// Who asked a sweep may have asked its trials as well.
TEST_F(SignalsDeathTest, ThatOfASweepIsNoOtherRequest) {
  EXPECT_EXIT(ask_twice([] { sigqueue(getpid(), SIGTERM, {}); }), ExitedWithCode(0), "");
}

/// Waits for a stop for at most ten seconds.
bool stops(const SignalGuard& signals) {
  for (int i = 0; i < 1000 && !signals.stop_requested(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return signals.stop_requested();
}

TEST_F(SignalsDeathTest, TheEndOfTheInputIsAStopAndNoSecondOne) {
  const auto lose_parent = [](bool asks_before) {
    int ends[2];
    if (pipe(ends) != 0 || dup2(ends[0], STDIN_FILENO) < 0) std::_Exit(2);
    SignalGuard signals;
    receive_signals_apart();
    stop_with_input();
    if (write(ends[1], "x", 1) != 1) std::_Exit(3);
    if (asks_before) kill(getpid(), SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(asks_before ? 1100 : 50));
    if (signals.stop_requested() != asks_before) std::_Exit(4);
    close(ends[1]);
    std::_Exit(stops(signals) ? 0 : 1);
  };
  EXPECT_EXIT(lose_parent(false), ExitedWithCode(0), "");
  EXPECT_EXIT(lose_parent(true), ExitedWithCode(0), "");
}

TEST(Progress, ShowsNoControlCharacters) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Progress progress(ProgressMode::plain, 1, 1, 0);
  progress.line("a\x1b[2Jb\nsaved    c");
  progress.warning("d\re\nf");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "a\\x1b[2Jb\\x0asaved    c\n");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "d\\x0de\\x0af\n");
}

}  // namespace signals_test
}  // namespace bochner
