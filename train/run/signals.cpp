#include <unistd.h>

#include <bochner/train/run/signals.hpp>
#include <csignal>

namespace bochner {
namespace {

volatile std::sig_atomic_t stop_signal = 0, save_signal = 0;

extern "C" void on_stop(int signal) {
  if (stop_signal != 0) _exit(128 + signal);
  stop_signal = signal;
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

}  // namespace

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

bool SignalGuard::take_save_request() {
  const bool requested = save_signal != 0;
  save_signal = 0;
  return requested;
}

}  // namespace bochner
