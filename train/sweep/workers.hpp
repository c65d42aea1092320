#pragma once
/// Programs run side by side, a few at a time.

#include <sys/types.h>

#include <bochner/train/run/own_program.hpp>
#include <bochner/train/run/signals.hpp>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bochner {

struct Job {
  std::vector<std::string> words;  ///< the program's path and what follows it
  std::string log;                 ///< file to which its output is added
};

/// How job number `index`, in the order in which they began, has ended: its exit code, 128 + signal
/// for one that was killed.
using JobEnded = std::function<void(std::size_t index, int code)>;

/// The jobs as they are asked for.
struct JobQueue {
  /// The next one; nothing while none is to start, and when it says so with no job running, that is
  /// the end.
  std::function<std::optional<Job>()> next;
  JobEnded ended;
  /// Whether to pass SIGTERM to all that run, once, and to start no more.
  std::function<bool()> stopped;
};

/// How many jobs run at the same time; with how many threads each, which are told by --threads, 0
/// to say nothing of them.
struct JobShare {
  std::size_t jobs = 1, threads = 0;
};

/// Where jobs run.
class JobPlace {
 public:
  virtual ~JobPlace() = default;
  virtual bool has_room() const = 0;
  virtual bool is_empty() const = 0;
  virtual void add(const Job& job, std::size_t index) = 0;
  /// Passes SIGTERM to all of them.
  virtual void stop() = 0;
  /// Tells of those that have ended.
  virtual void reap(const JobEnded& ended) = 0;
};

/// Children of this process. A job ends with this program, even where that is killed: then it gets
/// SIGTERM, and who goes on with its log waits until it has ended. To be used on the main thread.
class JobsHere : public JobPlace {
 public:
  explicit JobsHere(const JobShare& share) : share_(share) {}
  /// Whatever happens, they are told to stop and waited for.
  ~JobsHere() override;
  bool has_room() const override { return jobs_.size() < share_.jobs; }
  bool is_empty() const override { return jobs_.empty(); }
  /// Throws IoError when the program cannot be started.
  void add(const Job& job, std::size_t index) override;
  void stop() override;
  void reap(const JobEnded& ended) override;

 private:
  JobShare share_;
  std::map<pid_t, std::size_t> jobs_;
};

/// Runs jobs in all places, dealt out in turn. Returns when no job runs.
void run_jobs(const std::vector<JobPlace*>& places, const JobQueue& queue);
/// Here, at most `at_most` at the same time.
void run_jobs(std::size_t at_most, const JobQueue& queue);

/// The same of jobs that are known, until `signals` has seen a stop.
void run_jobs(const std::vector<Job>& jobs, std::size_t at_most, const SignalGuard& signals,
              const JobEnded& ended);

}  // namespace bochner
