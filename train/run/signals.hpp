#pragma once
/// Signals of a run. SIGINT, SIGTERM and the end of the terminal (SIGHUP) request a save at the end
/// of the step; a second one ends the process at once. So do SIGUSR2 and SIGXCPU, by which batch
/// systems and limits announce the end. SIGUSR1 requests a checkpoint without stopping. SIGPIPE is
/// ignored: a run outlives the reader of its output; so is SIGXFSZ: the write reports the error.

#include <array>
#include <csignal>
#include <stdexcept>
#include <string>

namespace bochner {

/// Signal before there was anything to save.
struct StoppedError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Holds all signals until one of the next two functions is called.
void hold_signals();
/// Makes signals that end the process write a message, unless a guard handles them; an unreadable
/// mapped file becomes a one-line error.
void speak_of_signals();
/// Receives signals on a separate thread, and not in this thread and those that it starts: oneDNN's
/// kernels use the stack pointer for arrays on the heap, and a signal that interrupts one writes
/// its frame below them. Calls speak_of_signals().
void receive_signals_apart();
/// Handles the end of the standard input like SIGTERM, and never as a second request: the program
/// that holds the other end of this pipe has ended. Call it after receive_signals_apart().
void stop_with_input();
/// Restores signal delivery in a forked process, which lacks that thread.
void receive_signals_here();

/// Scope of hold_signals(); the destructor restores this thread's mask and the handlers.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals& operator=(HeldSignals&&) = delete;

 private:
  static constexpr std::array changed = {SIGXFSZ, SIGCHLD, SIGUSR1, SIGUSR2, SIGXCPU, SIGBUS};
  sigset_t mask_;
  std::array<struct sigaction, changed.size()> actions_;
};

class SignalGuard {
 public:
  /// Installs the handlers; the destructor restores the old ones. At most one may exist.
  SignalGuard();
  ~SignalGuard();
  SignalGuard& operator=(SignalGuard&&) = delete;

  bool stop_requested() const { return asked_by() != 0; }
  /// Returns the signal that requested the stop, 0 for none.
  int asked_by() const;
  /// Adopts a signal of another process of the run; the next one here is not yet a second one.
  void adopt_stop(int signal) { adopted_ = signal; }
  /// Returns "SIGINT", "SIGTERM", "SIGHUP", "SIGUSR2" or "SIGXCPU" after a stop was requested.
  std::string stop_name() const;
  /// Whether a checkpoint was requested since the last call.
  bool take_save_request();

 private:
  int adopted_ = 0;
};

}  // namespace bochner
