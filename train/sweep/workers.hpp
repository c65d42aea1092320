#pragma once
/// Worker processes: programs run in parallel, a few at a time, by all processes that were started
/// together; the first one deals them out.

#include <sys/types.h>

#include <bochner/train/distributed/processes.hpp>
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
  std::string log;                 ///< file to which its output is appended
};

/// Callback for the end of the index-th started job: its exit code, or 128 + signal if killed.
using JobEnded = std::function<void(std::size_t index, int code)>;

struct JobQueue {
  /// Returns the next job; nothing while none can start. If no job runs then, the queue has ended.
  std::function<std::optional<Job>()> next;
  JobEnded ended;
  /// Whether to pass SIGTERM to all running jobs, once, and to start no more.
  std::function<bool()> stopped;
};

/// Number of parallel jobs, and of threads of each, passed on as --threads; 0 passes nothing.
struct JobShare {
  std::size_t jobs = 1, threads = 0;
};

class JobPlace {
 public:
  virtual ~JobPlace() = default;
  virtual bool has_room() const = 0;
  virtual bool is_empty() const = 0;
  virtual void add(const Job& job, std::size_t index) = 0;
  virtual void stop() = 0;
  /// Reports jobs that have ended.
  virtual void reap(const JobEnded& ended) = 0;
};

/// Children of this process, for use on the main thread. A job ends with this program: if that is
/// killed, the job gets SIGTERM, and the next user of its log waits until it has ended.
class LocalJobs : public JobPlace {
 public:
  explicit LocalJobs(const JobShare& share) : share_(share) {}
  ~LocalJobs() override;
  bool has_room() const override { return jobs_.size() < share_.jobs; }
  bool is_empty() const override { return jobs_.empty(); }
  /// Starts a job. Throws IoError if the program cannot be started.
  void add(const Job& job, std::size_t index) override;
  void stop() override;
  void reap(const JobEnded& ended) override;

 private:
  JobShare share_;
  std::map<pid_t, std::size_t> jobs_;
};

/// Runs jobs in all places, dealt out in turn. Returns when no job runs.
void run_jobs(const std::vector<JobPlace*>& places, const JobQueue& queue);

/// Runs the jobs, in the first process, while the others run help_with_jobs(). A stop that one of
/// them received counts as one of `signals`. Returns when no job runs.
void run_shared_jobs(Processes& processes, const JobShare& here, const JobQueue& queue,
                     SignalGuard& signals);

/// Runs the jobs from the first process, in the others, until it sends no more.
void help_with_jobs(Processes& processes, const JobShare& here, const SignalGuard& signals);

}  // namespace bochner
