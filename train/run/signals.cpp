#include <unistd.h>

#include <atomic>
#include <bochner/train/run/signals.hpp>
#include <csignal>
#include <thread>

namespace bochner {
namespace {

std::atomic<int> stop_signal = 0, save_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void on_stop(int signal) {
  if (stop_signal.exchange(signal) != 0) _exit(128 + signal);
}

extern "C" void on_save(int) { save_signal = 1; }

struct Handler {
  int signal;
  void (*action)(int);
  struct sigaction before;
};
Handler handlers[] = {{SIGINT, on_stop, {}},
                      {SIGTERM, on_stop, {}},
                      {SIGHUP, on_stop, {}},
                      {SIGUSR1, on_save, {}},
                      {SIGPIPE, SIG_IGN, {}}};

void install(Handler& handler) {
  struct sigaction action {};
  action.sa_handler = handler.action;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(handler.signal, &action, &handler.before);
  // Under nohup a run goes on when the terminal ends.
  if (handler.signal == SIGHUP && handler.before.sa_handler == SIG_IGN)
    sigaction(SIGHUP, &handler.before, nullptr);
}

/// Whether signals arrive on this thread.
void mask_signals(int how) {
  sigset_t received;
  sigemptyset(&received);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) sigaddset(&received, signal);
  pthread_sigmask(how, &received, nullptr);
}

}  // namespace

void receive_signals_here() { mask_signals(SIG_UNBLOCK); }

void receive_signals_apart() {
  mask_signals(SIG_BLOCK);
  std::thread([] {
    receive_signals_here();
    while (true) pause();
  }).detach();
}

SignalGuard::SignalGuard() {
  stop_signal = 0;
  save_signal = 0;
  for (Handler& handler : handlers) install(handler);
}

SignalGuard::~SignalGuard() {
  for (const Handler& handler : handlers) sigaction(handler.signal, &handler.before, nullptr);
}

bool SignalGuard::stop_requested() const { return stop_signal != 0; }

std::string SignalGuard::stop_name() const {
  return stop_signal == SIGTERM ? "SIGTERM" : stop_signal == SIGHUP ? "SIGHUP" : "SIGINT";
}

bool SignalGuard::take_save_request() { return save_signal.exchange(0) != 0; }

}  // namespace bochner
