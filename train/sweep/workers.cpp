#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/system.hpp>
#include <bochner/data/files/regular_file.hpp>
#include <bochner/train/distributed/mpi.hpp>
#include <bochner/train/sweep/workers.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <deque>
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
  end_with_parent(SIGTERM);
  if (::getppid() != parent) _exit(128 + SIGTERM);
  ::setpgid(0, 0);
  std::signal(SIGPIPE, SIG_DFL);
  if (::dup2(input, 0) < 0 || ::dup2(output, 1) < 0 || ::dup2(output, 2) < 0) return;
  close_files_on_exec();
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

/// Message header, followed by `bytes` of words.
struct Message {
  enum Kind : std::uint64_t {
    start,  ///< to a helper: job `number`
    stop,   ///< to a helper: stop all of its jobs
    ended,  ///< from a helper: job `number`, with `code`
    asked,  ///< from a helper: signal `code` asked for a stop
    over    ///< last message to a helper, and its answer
  } kind = over;
  std::uint64_t number = 0, code = 0, bytes = 0;
};

/// Messages from and to another process; waiting polls at intervals to leave processors to others.
class Mail {
 public:
  Mail(Transport& transport, std::size_t other) : transport_(transport), other_(other) { expect(); }
  // A message may still be written into it.
  Mail(const Mail&) = delete;
  Mail& operator=(const Mail&) = delete;

  void send(Message message, const std::string& words = "") {
    message.bytes = words.size();
    transport_.send(other_, &message, sizeof message);
    if (!words.empty()) transport_.send(other_, words.data(), words.size());
  }
  /// Takes a message; nothing if none has arrived.
  std::optional<Message> take() {
    if (is_over_ || !transport_.is_over(ticket_)) return std::nullopt;
    const Message message = next_;
    words_.resize(message.bytes);
    if (!words_.empty()) transport_.receive(other_, words_.data(), words_.size());
    is_over_ = message.kind == Message::over;
    if (!is_over_) expect();
    return message;
  }
  /// Returns the words of the last taken message.
  const std::string& words() const { return words_; }
  bool is_over() const { return is_over_; }

 private:
  void expect() { ticket_ = transport_.begin_receive(other_, 0, &next_, sizeof next_); }

  Transport& transport_;
  std::size_t other_;
  Transport::Ticket ticket_ = 0;
  Message next_;
  std::string words_;
  bool is_over_ = false;
};

/// Packs a job: its words, then its log.
std::string message_of(const Job& job) { return packed(job.words) + packed({job.log}); }

Job job_of(const std::string& message) {
  std::vector<std::string> texts = unpacked(message);
  const std::string log = texts.back();
  texts.pop_back();
  return {std::move(texts), log};
}

class RemoteJobs : public JobPlace {
 public:
  RemoteJobs(Transport& transport, std::size_t helper, std::size_t at_most, SignalGuard& signals)
      : mail_(transport, helper), at_most_(at_most), signals_(signals) {}
  bool has_room() const override { return running_ < at_most_; }
  bool is_empty() const override { return running_ == 0; }
  void add(const Job& job, std::size_t index) override {
    mail_.send({.kind = Message::start, .number = index}, message_of(job));
    ++running_;
  }
  void stop() override { mail_.send({.kind = Message::stop}); }
  void reap(const JobEnded& ended) override {
    while (const std::optional<Message> message = mail_.take()) {
      if (message->kind == Message::asked) signals_.adopt_stop(int(message->code));
      if (message->kind != Message::ended) continue;
      --running_;
      ended(message->number, int(message->code));
    }
  }
  /// Waits until the helper has confirmed the end.
  void dismiss() {
    mail_.send({.kind = Message::over});
    for (reap({}); !mail_.is_over(); reap({})) std::this_thread::sleep_for(1ms);
  }

 private:
  Mail mail_;
  std::size_t at_most_, running_ = 0;
  SignalGuard& signals_;
};

std::vector<double> rooms(Processes& processes, const JobShare& here) {
  return processes.gather(processes.size(),
                          [&](std::size_t) { return std::vector<double>{double(here.jobs)}; });
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
    ended(index, done <= 0           ? unknown_code
                 : WIFEXITED(status) ? WEXITSTATUS(status)
                                     : 128 + WTERMSIG(status));
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

void run_shared_jobs(Processes& processes, const JobShare& here, const JobQueue& queue,
                     SignalGuard& signals) {
  const std::vector<double> at_most = rooms(processes, here);
  LocalJobs own(here);
  std::deque<RemoteJobs> others;
  std::vector<JobPlace*> places = {&own};
  for (std::size_t rank = 1; rank < processes.size(); ++rank)
    places.push_back(
        &others.emplace_back(processes.transport(), rank, std::size_t(at_most[rank]), signals));
  run_jobs(places, queue);
  for (RemoteJobs& other : others) other.dismiss();
}

void help_with_jobs(Processes& processes, const JobShare& here, const SignalGuard& signals) {
  rooms(processes, here);
  Mail mail(processes.transport(), 0);
  LocalJobs jobs(here);
  for (bool asked = false; !mail.is_over(); std::this_thread::sleep_for(20ms)) {
    while (const std::optional<Message> message = mail.take()) {
      if (message->kind == Message::start) jobs.add(job_of(mail.words()), message->number);
      if (message->kind == Message::stop) jobs.stop();
    }
    if (signals.stop_requested() && !std::exchange(asked, true))
      mail.send({.kind = Message::asked, .code = std::uint64_t(signals.asked_by())});
    jobs.reap([&](std::size_t index, int code) {
      mail.send({.kind = Message::ended, .number = index, .code = std::uint64_t(code)});
    });
  }
  mail.send({});
}

}  // namespace bochner
