#include <gtest/gtest.h>

#include <algorithm>
#include <bochner/train/commands/cli.hpp>
#include <bochner/train/commands/program_scope.hpp>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

namespace bochner {
namespace cli_test {

int run(std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return cli(int(words.size()), pointers.data());
}

/// Signals that end the process of this thread, or are ignored if they would.
std::vector<int> held_signals() {
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  std::vector<int> held;
  for (int signal = 1; signal < SIGRTMIN; ++signal) {
    struct sigaction now;
    if (sigaction(signal, nullptr, &now) != 0) continue;
    if (sigismember(&blocked, signal) || now.sa_handler != SIG_DFL) held.push_back(signal);
  }
  return held;
}

void own_end() { std::_Exit(3); }

/// A program that embeds cli() keeps its own handling of signals, children and termination.
TEST(Cli, LeavesTheProgramAsItWas) {
  std::signal(SIGINT, SIG_DFL);  // shells ignore it in programs started with &
  const std::vector<int> held = held_signals();
  EXPECT_EQ(std::count(held.begin(), held.end(), SIGINT), 0);
  const std::terminate_handler usual = std::set_terminate(own_end);
  std::signal(SIGCHLD, SIG_IGN);
  testing::internal::CaptureStdout();
  EXPECT_EQ(run({"bochner", "metrics", "--help"}), 0);
  EXPECT_EQ(run({"bochner", "completion", "bash"}), 0);
  testing::internal::GetCapturedStdout();
  EXPECT_EQ(std::signal(SIGCHLD, SIG_DFL), SIG_IGN);
  EXPECT_EQ(std::set_terminate(usual), own_end);
  EXPECT_EQ(held_signals(), held);
}

std::string printed(const std::vector<std::string>& words) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(run(words), 0);
  return testing::internal::GetCapturedStdout();
}

TEST(Cli, PrintsLicences) {
  const std::string text = printed({"bochner", "--licenses"});
  EXPECT_EQ(text.rfind("bochner ", 0), 0u);
  for (const char* library : {"\n| oneDNN ", "\n| NLopt ", "\n| Random123 "})
    EXPECT_NE(text.find(library), std::string::npos) << library;
  EXPECT_EQ(printed({"bochner", "--version", "--licenses"}), text);
  EXPECT_EQ(printed({"bochner", "--version"}).find("| oneDNN"), std::string::npos);
}

TEST(Cli, AdvisesOnMemoryAnewInEachCall) {
  testing::internal::CaptureStderr();
  EXPECT_NE(run({"bochner", "sample", "nowhere"}), 0);
  EXPECT_NE(std::string(out_of_memory).find("--count"), std::string::npos);
  EXPECT_NE(run({"bochner", "inspect", "nowhere"}), 0);
  EXPECT_EQ(out_of_memory, std::string(usual_memory_advice));
  testing::internal::GetCapturedStderr();
}

TEST(Cli, TakesNoWordsForNoCommand) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(cli(0, nullptr), 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "no command. See: bochner --help\n");
}

}  // namespace cli_test
}  // namespace bochner
