#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/data/files/regular_file.hpp>
#include <bochner/train/distributed/mpi.hpp>
#include <bochner/train/sweep/workers.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

namespace bochner {
namespace {

using namespace std::chrono_literals;

constexpr auto longest_wait = 60000ms;

Descriptor opened(const char* path, int flags) {
  Descriptor file(::open(path, flags | O_CLOEXEC, 0666));
  if (file.value() < 0)
    throw IoError(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  return file;
}

/// Becomes the job: its own process group, so that ^C at a terminal reaches it only once, passed
/// on; it gets SIGTERM when this program ends, in whatever way. It inherits none of this program's
/// files, such as the connections of MPI. Returns if the job cannot be started.
void become(const char* program, char* const* words, char* const* environment, int input,
            int output, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) _exit(128 + SIGTERM);
  ::setpgid(0, 0);
  std::signal(SIGPIPE, SIG_DFL);
  if (::dup2(input, 0) < 0 || ::dup2(output, 1) < 0 || ::dup2(output, 2) < 0) return;
  ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  ::execve(program, words, environment);
}

/// Waits for a process of a killed program that uses this log: it saves and ends soon. The lock is
/// held while the file is open, and passed on to the job.
void await_owner(const Descriptor& log) {
  for (auto left = longest_wait; left > 0ms; left -= 10ms) {
    if (::flock(log.value(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    std::this_thread::sleep_for(10ms);
  }
}

pid_t start(const Job& job) {
  const Descriptor nothing = opened("/dev/null", O_RDONLY);
  const Descriptor log = opened(job.log.c_str(), O_WRONLY | O_CREAT | O_APPEND);
  await_owner(log);
  std::vector<char*> words;
  for (const std::string& word : job.words) words.push_back(const_cast<char*>(word.c_str()));
  std::string name = job.words[0] == this_program ? own_path() : job.words[0];
  words[0] = name.data();
  words.push_back(nullptr);
  std::vector<char*> environment = environment_alone();
  environment.push_back(nullptr);
  const pid_t parent = ::getpid();
  volatile int error = 0;
  // Until it executes another program the child shares this memory, and this thread waits.
  const pid_t process = ::vfork();
  if (process == 0) {
    become(job.words[0].c_str(), words.data(), environment.data(), nothing.value(), log.value(),
           parent);
    error = errno;
    _exit(127);
  }
  if (process > 0 && error != 0) ::waitpid(process, nullptr, 0);
  if (process < 0 || error != 0)
    throw IoError(fmt::format("cannot start {} with its output in {}: {}", words[0], job.log,
                              std::strerror(process < 0 ? errno : error)));
  return process;
}

/// Exit code of a process that was reaped elsewhere.
constexpr int unknown_code = 127;

int exit_code(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Deals jobs to each place in turn, until none has room or no job is left.
void start_jobs(const std::vector<JobPlace*>& places, const JobQueue& queue, std::size_t& count) {
  for (bool any = true; any;) {
    any = false;
    for (JobPlace* place : places) {
      if (!place->has_room()) continue;
      const std::optional<Job> job = queue.stopped() ? std::nullopt : queue.next();
      if (!job) return;
      place->add(*job, count++);
      any = true;
    }
  }
}

}  // namespace

LocalJobs::~LocalJobs() {
  stop();
  for (const auto& [process, index] : jobs_) waitpid(process, nullptr, 0);
}

void LocalJobs::add(const Job& job, std::size_t index) {
  Job own = job;
  if (share_.threads > 0)
    own.words.insert(own.words.end(), {"--threads", std::to_string(share_.threads)});
  jobs_[start(own)] = index;
}

/// Queues the signal, which is then not a second request if the whole group was signalled.
void LocalJobs::stop() {
  for (const auto& [process, index] : jobs_) sigqueue(process, SIGTERM, {});
}

void LocalJobs::reap(const JobEnded& ended) {
  for (auto job = jobs_.begin(); job != jobs_.end();) {
    int status = 0;
    const pid_t done = waitpid(job->first, &status, WNOHANG);
    if (done == 0) {
      ++job;
      continue;
    }
    const std::size_t index = job->second;
    job = jobs_.erase(job);
    ended(index, done > 0 ? exit_code(status) : unknown_code);
  }
}

void run_jobs(const std::vector<JobPlace*>& places, const JobQueue& queue) {
  bool stopping = false;
  for (std::size_t count = 0;;) {
    start_jobs(places, queue, count);
    if (std::ranges::all_of(places, &JobPlace::is_empty)) return;
    if (queue.stopped() && !std::exchange(stopping, true))
      for (JobPlace* place : places) place->stop();
    std::this_thread::sleep_for(20ms);
    for (JobPlace* place : places) place->reap(queue.ended);
  }
}

void run_jobs(std::size_t at_most, const JobQueue& queue) {
  LocalJobs here({.jobs = at_most});
  run_jobs({&here}, queue);
}

void run_jobs(const std::vector<Job>& jobs, std::size_t at_most, const SignalGuard& signals,
              const JobEnded& ended) {
  std::size_t next = 0;
  run_jobs(at_most, {.next = [&]() -> std::optional<Job> {
                       if (next == jobs.size()) return std::nullopt;
                       return jobs[next++];
                     },
                     .ended = ended,
                     .stopped = [&] { return signals.stop_requested(); }});
}

}  // namespace bochner
