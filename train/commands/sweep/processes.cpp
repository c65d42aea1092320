#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bochner/data/files/errors.hpp>
#include <bochner/data/files/regular_file.hpp>
#include <bochner/train/commands/sweep/processes.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <thread>
#include <utility>

namespace bochner {
namespace {

using namespace std::chrono_literals;

constexpr auto longest_wait = 60000ms;

/// An open file, or an IoError.
Descriptor opened(const char* path, int flags) {
  Descriptor file(::open(path, flags | O_CLOEXEC, 0666));
  if (file.value() < 0)
    throw IoError(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  return file;
}

/// Becomes the job: a process group of its own, so that ^C at a terminal reaches it once only,
/// passed on; and SIGTERM when this program ends, however that happens. Returns if it cannot be
/// started.
void become(char* const* words, int input, int output, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) _exit(128 + SIGTERM);
  ::setpgid(0, 0);
  std::signal(SIGPIPE, SIG_DFL);
  if (::dup2(input, 0) >= 0 && ::dup2(output, 1) >= 0 && ::dup2(output, 2) >= 0)
    ::execv(words[0], words);
}

/// Waits for a process that has this log, of a program that was killed: it saves and ends soon. The
/// lock is held as long as somebody has the file open, and passed on to the job.
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
  words.push_back(nullptr);
  const pid_t parent = ::getpid();
  volatile int error = 0;
  // Until it has become another program the child shares this memory, and this thread waits.
  const pid_t process = ::vfork();
  if (process == 0) {
    become(words.data(), nothing.value(), log.value(), parent);
    error = errno;
    _exit(127);
  }
  if (process > 0 && error != 0) ::waitpid(process, nullptr, 0);
  if (process < 0 || error != 0)
    throw IoError(fmt::format("cannot start {} with its output in {}: {}", words[0], job.log,
                              std::strerror(process < 0 ? errno : error)));
  return process;
}

int exit_code(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// The jobs that run now. Whatever happens, they are told to stop and waited for.
class RunningJobs {
 public:
  ~RunningJobs() {
    stop();
    for (const auto& [process, index] : jobs_) waitpid(process, nullptr, 0);
  }
  std::size_t count() const { return jobs_.size(); }
  void add(const Job& job, std::size_t index) { jobs_[start(job)] = index; }
  void stop() const {
    for (const auto& [process, index] : jobs_) kill(process, SIGTERM);
  }
  void reap(const std::function<void(std::size_t, int)>& ended) {
    for (auto job = jobs_.begin(); job != jobs_.end();) {
      int status = 0;
      if (waitpid(job->first, &status, WNOHANG) == 0) {
        ++job;
        continue;
      }
      const std::size_t index = job->second;
      job = jobs_.erase(job);
      ended(index, exit_code(status));
    }
  }

 private:
  std::map<pid_t, std::size_t> jobs_;
};

}  // namespace

void run_jobs(std::size_t at_most, const JobQueue& queue) {
  RunningJobs running;
  bool stopping = false;
  for (std::size_t count = 0;;) {
    while (!queue.stopped() && running.count() < at_most) {
      const std::optional<Job> job = queue.next();
      if (!job) break;
      running.add(*job, count++);
    }
    if (running.count() == 0) return;
    if (queue.stopped() && !std::exchange(stopping, true)) running.stop();
    std::this_thread::sleep_for(20ms);
    running.reap(queue.ended);
  }
}

void run_jobs(const std::vector<Job>& jobs, std::size_t at_most, const SignalGuard& signals,
              const std::function<void(std::size_t, int)>& ended) {
  std::size_t next = 0;
  run_jobs(at_most, {.next = [&]() -> std::optional<Job> {
                       if (next == jobs.size()) return std::nullopt;
                       return jobs[next++];
                     },
                     .ended = ended,
                     .stopped = [&] { return signals.stop_requested(); }});
}

}  // namespace bochner
