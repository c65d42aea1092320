#pragma once
/// Programs run side by side, a few at a time.

#include <bochner/train/run/signals.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace bochner {

struct Job {
  std::vector<std::string> words;  ///< the program's path and what follows it
  std::string log;                 ///< file to which its output is added
};

/// The jobs as they are asked for.
struct JobQueue {
  /// The next one; nothing while none is to start, and when it says so with no job running, that is
  /// the end.
  std::function<std::optional<Job>()> next;
  /// How job number `index`, in the order in which they began, has ended: its exit code, 128 +
  /// signal for one that was killed.
  std::function<void(std::size_t index, int code)> ended;
  /// Whether to pass SIGTERM to all that run, once, and to start no more.
  std::function<bool()> stopped;
};

/// Runs jobs, at most `at_most` at the same time. A job ends with this program, even where that is
/// killed: then it gets SIGTERM, and who goes on with its log waits until it has ended. To be
/// called on the main thread. Returns when no job runs. Throws IoError when a program cannot be
/// started.
void run_jobs(std::size_t at_most, const JobQueue& queue);

/// The same of jobs that are known, until `signals` has seen a stop.
void run_jobs(const std::vector<Job>& jobs, std::size_t at_most, const SignalGuard& signals,
              const std::function<void(std::size_t index, int code)>& ended);

}  // namespace bochner
