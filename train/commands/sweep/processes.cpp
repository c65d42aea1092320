#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <bochner/data/files/errors.hpp>
#include <bochner/train/commands/sweep/processes.hpp>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <thread>
#include <utility>

namespace bochner {
namespace {

using namespace std::chrono_literals;

/// What posix_spawn() wants to know: where output goes, and a process group of its own, so that ^C
/// at a terminal reaches a job once only, passed on.
class SpawnSetup {
 public:
  explicit SpawnSetup(const std::string& log) {
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    sigset_t ignored_here;
    sigemptyset(&ignored_here);
    sigaddset(&ignored_here, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &ignored_here);
  }
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;

  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
};

pid_t start(const Job& job) {
  const SpawnSetup setup(job.log);
  std::vector<char*> words;
  for (const std::string& word : job.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t process = 0;
  const int error =
      posix_spawn(&process, words[0], &setup.files, &setup.attributes, words.data(), environ);
  if (error != 0)
    throw IoError(fmt::format("cannot start {} with its output in {}: {}", words[0], job.log,
                              std::strerror(error)));
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

void run_jobs(const std::vector<Job>& jobs, std::size_t at_most, const SignalGuard& signals,
              const std::function<void(std::size_t, int)>& ended) {
  RunningJobs running;
  bool stopping = false;
  for (std::size_t next = 0;;) {
    for (; !signals.stop_requested() && next < jobs.size() && running.count() < at_most; ++next)
      running.add(jobs[next], next);
    if (running.count() == 0) return;
    if (signals.stop_requested() && !std::exchange(stopping, true)) running.stop();
    std::this_thread::sleep_for(20ms);
    running.reap(ended);
  }
}

}  // namespace bochner
