#include <unistd.h>

#include <atomic>
#include <bochner/data/files/regular_file.hpp>
#include <bochner/train/run/signals.hpp>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <future>
#include <initializer_list>
#include <thread>

namespace bochner {
namespace {

std::atomic<int> stop_signal = 0, save_signal = 0;
std::atomic<std::int64_t> stop_asked_at = 0;  ///< in milliseconds, 0 for never
static_assert(std::atomic<int>::is_always_lock_free &&
              std::atomic<std::int64_t>::is_always_lock_free);

/// Milliseconds of one request: timeout and containers signal a process and its whole group.
constexpr std::int64_t one_request = 1000;

std::int64_t milliseconds_now() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return 1 + std::int64_t(now.tv_sec) * 1000 + now.tv_nsec / 1000000;
}

/// Whether another request asked for a stop before.
bool asks_again(int signal) {
  std::int64_t first = 0;
  const std::int64_t now = milliseconds_now();
  if (!stop_asked_at.compare_exchange_strong(first, now)) return now - first >= one_request;
  stop_signal = signal;
  return false;
}

/// Handles a stop. A queued signal is not a second request: the trials of a sweep may already have
/// received one from its sender.
extern "C" void on_stop(int signal, siginfo_t* info, void*) {
  if (asks_again(signal) && info->si_code != SI_QUEUE) _exit(128 + signal);
}

/// Handles SIGXCPU, which comes every second beyond the limit.
extern "C" void on_time_limit(int signal, siginfo_t*, void*) { asks_again(signal); }

extern "C" void on_save(int, siginfo_t*, void*) { save_signal = 1; }

/// Returns the name of a handled signal; "" for any other.
const char* signal_name(int signal) {
  static constexpr std::pair<int, const char*> names[] = {
      {SIGINT, "SIGINT"},   {SIGTERM, "SIGTERM"},
      {SIGHUP, "SIGHUP"},   {SIGUSR1, "SIGUSR1"},
      {SIGUSR2, "SIGUSR2"}, {SIGXCPU, "SIGXCPU, the limit of processor time (ulimit -St)"}};
  for (const auto& [known, name] : names)
    if (known == signal) return name;
  return "";
}

/// Writes from a handler, without allocating memory.
void write_words(std::initializer_list<const char*> words) {
  for (const char* text : words)
    if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
}

extern "C" void on_end(int signal) {
  write_words({"ended by ", signal_name(signal), "\n"});
  _exit(128 + signal);
}

/// Handles an unreadable page of a mapped file, where DataError can no longer be thrown.
extern "C" void on_missing_page(int signal, siginfo_t* info, void*) {
  if (const char* path = mapped_path(info->si_addr)) {
    write_words({path,
                 ": can no longer be read: it was truncated, or the disk fails; restore it and "
                 "try again\n"});
    _exit(65);
  }
  std::signal(signal, SIG_DFL);  // the repeated access ends the process
}

struct Handler {
  int signal;
  void (*action)(int, siginfo_t*, void*);  ///< null to ignore it
  struct sigaction before;
};
Handler handlers[] = {{SIGINT, on_stop, {}},  {SIGTERM, on_stop, {}},       {SIGHUP, on_stop, {}},
                      {SIGUSR2, on_stop, {}}, {SIGXCPU, on_time_limit, {}}, {SIGUSR1, on_save, {}},
                      {SIGPIPE, nullptr, {}}, {SIGXFSZ, nullptr, {}}};

void install(Handler& handler) {
  struct sigaction action {};
  action.sa_flags = SA_RESTART;
  if (handler.action) {
    action.sa_sigaction = handler.action;
    action.sa_flags |= SA_SIGINFO;
  } else {
    action.sa_handler = SIG_IGN;
  }
  sigemptyset(&action.sa_mask);
  sigaction(handler.signal, &action, &handler.before);
  // Under nohup a run survives the end of the terminal.
  if (handler.signal == SIGHUP && handler.before.sa_handler == SIG_IGN)
    sigaction(SIGHUP, &handler.before, nullptr);
}

/// Blocks or unblocks signals on this thread.
void mask_signals(int how) {
  sigset_t received;
  sigemptyset(&received);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU})
    sigaddset(&received, signal);
  pthread_sigmask(how, &received, nullptr);
}

}  // namespace

void speak_of_signals() {
  for (int signal : {SIGUSR1, SIGUSR2, SIGXCPU}) {
    struct sigaction now;
    if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_DFL)
      std::signal(signal, on_end);
  }
  struct sigaction missing {};
  missing.sa_sigaction = on_missing_page;
  missing.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &missing, nullptr);
}

void hold_signals() {
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGCHLD, SIG_DFL);  // if ignored, exit statuses of children are lost
  mask_signals(SIG_BLOCK);
}

void receive_signals_here() { mask_signals(SIG_UNBLOCK); }

void receive_signals_apart() {
  hold_signals();
  speak_of_signals();
  static pid_t listens_in = 0;  // one thread is enough for all commands of a process
  if (std::exchange(listens_in, ::getpid()) == ::getpid()) return;
  std::promise<void> listening;
  const std::future<void> listens = listening.get_future();
  std::thread([listening = std::move(listening)]() mutable {
    receive_signals_here();
    listening.set_value();
    while (true) pause();
  }).detach();
  listens.wait();  // a short command must not miss an earlier signal
}

void stop_with_input() {
  std::thread([] {
    char byte;
    ssize_t count;
    do count = ::read(STDIN_FILENO, &byte, 1);
    while (count > 0 || (count < 0 && errno == EINTR));
    ::sigqueue(::getpid(), SIGTERM, {});
  }).detach();
}

HeldSignals::HeldSignals() {
  for (std::size_t i = 0; i < changed.size(); ++i) sigaction(changed[i], nullptr, &actions_[i]);
  pthread_sigmask(SIG_SETMASK, nullptr, &mask_);
  hold_signals();
}

HeldSignals::~HeldSignals() {
  for (std::size_t i = 0; i < changed.size(); ++i) sigaction(changed[i], &actions_[i], nullptr);
  pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
}

SignalGuard::SignalGuard() {
  stop_signal = 0;
  stop_asked_at = 0;
  save_signal = 0;
  for (Handler& handler : handlers) install(handler);
}

SignalGuard::~SignalGuard() {
  for (const Handler& handler : handlers) sigaction(handler.signal, &handler.before, nullptr);
}

int SignalGuard::asked_by() const {
  const int own = stop_signal;
  return own != 0 ? own : adopted_;
}

std::string SignalGuard::stop_name() const { return signal_name(asked_by()); }

bool SignalGuard::take_save_request() { return save_signal.exchange(0) != 0; }

}  // namespace bochner
