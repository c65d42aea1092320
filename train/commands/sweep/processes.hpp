#pragma once
/// Programs run side by side, a few at a time.

#include <bochner/train/run/signals.hpp>
#include <functional>
#include <string>
#include <vector>

namespace bochner {

struct Job {
  std::vector<std::string> words;  ///< the program's path and what follows it
  std::string log;                 ///< file to which its output is added
};

/// Runs all jobs, at most `at_most` at the same time, and tells each one's exit code, 128 + signal
/// for one that was killed. A job ends with this program, even where that is killed: then it gets
/// SIGTERM. To be called on the main thread. A stop that `signals` has seen is passed on once as
/// SIGTERM; jobs that were not started yet are left out. Returns when no job runs. Throws IoError
/// when a program cannot be started.
void run_jobs(const std::vector<Job>& jobs, std::size_t at_most, const SignalGuard& signals,
              const std::function<void(std::size_t index, int code)>& ended);

}  // namespace bochner
